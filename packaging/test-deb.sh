#!/usr/bin/env bash
# Installs a .deb in a root of its own, a throw-away layer over this machine's, looks at what is in it, mounts and
# unmounts with it through mount(8), and removes it again: packaging/test-deb.sh FILE.deb. Needs root, dpkg and FUSE.
set -euo pipefail

deb=$(realpath "$1")
archive=$(realpath "$(dirname "$0")/../testdata/archive")

if [ "$(id -u)" != 0 ] || ! command -v dpkg >/dev/null || ! [ -w /dev/fuse ]; then
    echo "skipped: needs root, dpkg and /dev/fuse"
    exit 0
fi
if [ "${INSIDE_NAMESPACE:-}" != 1 ]; then
    if command -v lintian >/dev/null; then
        lintian --allow-root --fail-on error,warning "$deb"
    fi
    # The program knows its version without git as well.
    if git -C "$(dirname "$0")" rev-parse 2>/dev/null; then
        unpacked=$(mktemp -d)
        git -C "$(dirname "$0")/.." archive HEAD | tar -x -C "$unpacked"
        (cd "$unpacked" && CGO_ENABLED=0 go run -trimpath ./cmd/recfs version) | tee "$unpacked/version"
        commit=$(git -C "$(dirname "$0")" log -1 --format=%h)
        tagged=$(git -C "$(dirname "$0")" describe --tags 2>/dev/null || echo "$commit")
        grep -qF "$tagged" "$unpacked/version"
        rm -rf "$unpacked"
    fi
    exec env INSIDE_NAMESPACE=1 unshare --mount --propagation private "$0" "$deb"
fi

# From here on, mounts end with this process.
layer=$(mktemp -d)
trap 'rmdir "$layer"' EXIT
mount -t tmpfs none "$layer"
trap 'umount -R -l "$layer"; rmdir "$layer"' EXIT
mkdir "$layer"/{upper,work,root,root-archive}
mount -t overlay none -o "lowerdir=/,upperdir=$layer/upper,workdir=$layer/work" "$layer/root" || {
    echo "skipped: no overlay file system here"
    exit 0
}
root=$layer/root
for dir in dev proc sys; do mount --rbind "/$dir" "$root/$dir"; done
mkdir "$root/srv/archive" "$root/mnt/recordings"
mount --bind "$archive" "$root/srv/archive"
cp "$deb" "$root/tmp/recfs.deb"

inside() { chroot "$root" "$@"; }
inside dpkg -i /tmp/recfs.deb
[ "$(inside recfs version | cut -d ' ' -f 2)" = "$(dpkg-deb -f "$deb" Version)" ]
for page in man1/recfs.1 man8/mount.recfs.8 man8/mount.fuse.recfs.8; do
    zcat "$root/usr/share/man/$page.gz" | grep '^\.Sh EXAMPLES' >/dev/null
done
for doc in README.md docs/guide.md docs/admin.md docs/cookbook.md docs/tree/README.md changelog.gz changelog.Debian.gz copyright licenses.gz; do
    test -s "$root/usr/share/doc/recfs/$doc"
done

# Bash completes every command and flag that help tells of, zsh and fish have the scripts of this program.
cat >"$root/tmp/complete.bash" <<'EOF'
source /usr/share/bash-completion/completions/recfs
candidates() {
    COMP_LINE="recfs $*"
    COMP_POINT=${#COMP_LINE}
    _recfs recfs "${!#}" 2>/dev/null || : # compopt works in a shell that completes
    printf '%s\n' "${COMPREPLY[@]}"
}
flags_of() { recfs help "$1" | grep -o '^ *\(-[[:alnum:]], \)\?--[a-z0-9-]*' | grep -o -e '--.*'; }
cd "$(mktemp -d)"
diff <(recfs help | sed -n '/^Commands/,/^$/s/^  \([a-z-]*\) .*/\1/p') <(candidates '')
for command in $(candidates ''); do
    missing=$(comm -13 <(candidates "$command" -- | sort) <(flags_of "$command" | sort -u))
    [ -z "$missing" ] || { echo "$command: not completed:" $missing; exit 1; }
done
for shared in $(flags_of flags); do
    candidates ls -- | grep -xe "$shared" >/dev/null
done
EOF
inside bash -eo pipefail /tmp/complete.bash
for script in bash:bash-completion/completions/recfs zsh:zsh/vendor-completions/_recfs fish:fish/vendor_completions.d/recfs.fish; do
    inside recfs completion "${script%%:*}" | cmp - "$root/usr/share/${script#*:}"
done
if inside sh -c 'command -v systemd-analyze' >/dev/null; then
    inside systemd-analyze verify --man=no /usr/lib/systemd/system/recfs@archive.service /usr/lib/systemd/system/recfs-serve@archive.service
fi

for type in recfs fuse.recfs; do
    inside mount -t "$type" /srv/archive /mnt/recordings -o noatime,nofail,allow_other
    inside findmnt -n -o FSTYPE,SOURCE /mnt/recordings
    inside test -e /mnt/recordings/.recfs/version.json
    inside umount /mnt/recordings
done
echo '/srv/archive /mnt/recordings recfs noauto,cache_mem=64MiB,x-systemd.automount 0 0' >>"$root/etc/fstab"
inside mount /mnt/recordings
inside ls /mnt/recordings
inside umount /mnt/recordings
if inside mount -t recfs /srv/archive /mnt/recordings -o frobnicate; then
    echo "an unknown option was accepted"
    exit 1
fi

mkdir -p "$root/var/cache/recfs/v2"
inside dpkg -P recfs
for gone in var/cache/recfs usr/bin/recfs usr/sbin/mount.recfs usr/share/man/man1/recfs.1.gz usr/share/doc/recfs; do
    test ! -e "$root/$gone" -a ! -L "$root/$gone"
done
echo "ok: $(basename "$deb") installs, mounts, unmounts and goes"
