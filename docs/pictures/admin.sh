#!/usr/bin/env bash
# What admin.cast shows, from the root of a clone with recfs built into the PATH:
# asciinema rec --overwrite --cols 110 --rows 24 -c docs/pictures/admin.sh docs/pictures/admin.cast
work=$(mktemp -d)
cp -r testdata/archive "$work" && cd "$work" || exit
export XDG_CACHE_HOME=$work/cache

say() {
    printf '\033[1;32m$\033[0m '
    for ((i = 0; i < ${#1}; i++)); do printf '%s' "${1:i:1}"; sleep 0.035; done
    echo
    eval "$1"
    sleep 1.6
}
say 'recfs mount archive recordings'
say 'recfs find --index --player racer03 archive'
say 'cd recordings/teehistorian/busy-20.1.teehistorian.xz; grep -c "03-racer03 finished" export/events.txt'
say 'jq -cM ".players[] | select(.name == \"racer03\") | .input" states/1161.json; cd ../../..'
say 'recfs demo archive/teehistorian/busy-20.1.teehistorian.xz --run racer03 -o racer03.demo; ls -l *.demo'
say 'recfs umount recordings'
rm -rf "$work"
