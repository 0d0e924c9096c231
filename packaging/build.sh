#!/usr/bin/env bash
# Builds dist/*.deb and dist/*.rpm: packaging/build.sh [VERSION]. GOARCH chooses the architecture.
set -euo pipefail
cd "$(dirname "$0")/.."

export VERSION=${1:-$(git describe --tags --always 2>/dev/null || echo 0)}
VERSION=${VERSION#v}
[[ $VERSION == [0-9]*.* ]] || VERSION=0.0.0+$VERSION
ARCH=${GOARCH:-$(go env GOARCH)}
export ARCH DIST=dist/$ARCH

nfpm=$PWD/.tools/nfpm@v2.45.0/nfpm
[ -x "$nfpm" ] || env -u GOARCH -u GOOS GOBIN="${nfpm%/*}" GOFLAGS=-mod=mod go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0

rm -f dist/*.deb dist/*.rpm
mkdir -p "$DIST"
GOOS=linux GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -ldflags=-s -o "$DIST/recfs" ./cmd/recfs
gzip -9nc packaging/recfs.1 >"$DIST/recfs.1.gz"
for shell in bash:recfs.bash zsh:_recfs fish:recfs.fish; do
    go run ./cmd/recfs completion "${shell%%:*}" >"$DIST/${shell##*:}"
done
for packager in deb rpm; do
    "$nfpm" package --config packaging/nfpm.yaml --packager "$packager" --target dist
done
