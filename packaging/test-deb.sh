#!/usr/bin/env bash
# Installs a .deb in a root of its own, a throw-away layer over this machine's, mounts and unmounts with
# it through mount(8), and removes it again: packaging/test-deb.sh FILE.deb. Needs root, dpkg and FUSE.
set -euo pipefail

deb=$(realpath "$1")
archive=$(realpath "$(dirname "$0")/../testdata/archive")

if [ "$(id -u)" != 0 ] || ! command -v dpkg >/dev/null || ! [ -w /dev/fuse ]; then
    echo "skipped: needs root, dpkg and /dev/fuse"
    exit 0
fi
if [ "${INSIDE_NAMESPACE:-}" != 1 ]; then
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
inside recfs version
inside man -w recfs 2>/dev/null || test -e "$root/usr/share/man/man1/recfs.1.gz"
if inside sh -c 'command -v systemd-analyze' >/dev/null; then
    inside systemd-analyze verify --man=no /usr/lib/systemd/system/recfs@archive.service
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

inside dpkg -P recfs
for gone in usr/bin/recfs usr/sbin/mount.recfs usr/share/man/man1/recfs.1.gz; do
    test ! -e "$root/$gone" -a ! -L "$root/$gone"
done
echo "ok: $(basename "$deb") installs, mounts, unmounts and goes"
