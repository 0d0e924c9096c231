#!/usr/bin/env bash
# Builds dist/*.deb and dist/*.rpm: packaging/build.sh [VERSION]. GOARCH chooses the architecture. The version of
# an untagged commit is its day and name, which source from git archive tells in cmd/recfs/revision.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

IFS= read -r revision <cmd/recfs/revision.txt
[[ $revision != '$'* ]] || revision=$(git log -1 --format='%(describe:tags) %cs %h' 2>/dev/null || echo 0.0.0 "$(date +%F)" 0)
read -r tag day commit <<<"${revision/# /0.0.0+ }"
[[ $tag != 0.0.0+ ]] || tag+=${day//-/}.$commit
export VERSION=${1:-$tag}
VERSION=${VERSION#v}
ARCH=${GOARCH:-$(go env GOARCH)}
export ARCH DIST=dist/$ARCH

nfpm=$PWD/.tools/nfpm@v2.45.0/nfpm
[ -x "$nfpm" ] || env -u GOARCH -u GOOS CGO_ENABLED=0 GOBIN="${nfpm%/*}" GOFLAGS="-trimpath -mod=mod" go install github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.45.0

rm -f dist/*.deb dist/*.rpm
mkdir -p "$DIST"
GOOS=linux GOARCH=$ARCH CGO_ENABLED=0 go build -trimpath -ldflags="-s -X main.release=$VERSION" -o "$DIST/recfs" ./cmd/recfs
for page in packaging/*.[1-8]; do gzip -9nc "$page" >"$DIST/${page##*/}.gz"; done
gzip -9nc CHANGELOG.md >"$DIST/changelog.gz"
gzip -9nc >"$DIST/changelog.Debian.gz" <<EOF
recfs ($VERSION) unstable; urgency=medium

  * What is new is in changelog.gz.

 -- $(sed -n 's/^maintainer: //p' packaging/nfpm.yaml)  $(date -R -d "$day")
EOF
modules='{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}} {{.Dir}}{{end}}{{end}}'
{ GOOS=linux go list -deps -f "$modules" ./cmd/recfs | sort -u; go env GOVERSION GOROOT | paste -sd ' ' - | sed 's/^/go /'; } |
    while read -r module version dir; do printf '== %s %s\n\n' "$module" "$version"; cat "$dir"/LICENSE*; done |
    gzip -9n >"$DIST/licenses.gz"
for shell in bash:recfs.bash zsh:_recfs fish:recfs.fish; do
    go run ./cmd/recfs completion "${shell%%:*}" >"$DIST/${shell##*:}"
done
for packager in deb rpm; do
    # Debian has no field for the licence.
    sed "$([ $packager = rpm ] || echo /^license:/d)" packaging/nfpm.yaml >"$DIST/nfpm.yaml"
    "$nfpm" package --config "$DIST/nfpm.yaml" --packager "$packager" --target dist
done
