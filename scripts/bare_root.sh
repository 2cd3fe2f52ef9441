#!/usr/bin/env bash
# Tries the package of `make package` in a bare Debian 12 that has no Python: as root, with
# debootstrap and a network for Debian's packages. The trial itself runs without a network.
#
#   scripts/bare_root.sh WORK [DIST]
#
# WORK: a folder for the bare root (1.5 GB; used again). DIST: where the package is (default: dist).
# Ends with 0 when a session with windows and sound, export, verification and analysis worked, an
# extra was added from a folder, and nothing was left after removal. Prints what took how long.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=${1:?the folder for the bare root}
dist=$(cd "${2:-$here/../dist}" && pwd)
mkdir -p "$work"
root=$(cd "$work" && pwd)/root

for tool in debootstrap unshare chroot zstd; do
  command -v "$tool" >/dev/null || { echo "$tool is missing: apt-get install debootstrap zstd"; exit 2; }
done
if [ ! -f "$root/.labapp-base" ]; then
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" >"$work/debootstrap.log"
  touch "$root/.labapp-base"
fi
# As this machine reaches Debian's packages.
cp /etc/apt/apt.conf.d/*proxy* "$root/etc/apt/apt.conf.d/" 2>/dev/null || true
inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 chroot "$root" "$@"; }

deb=$(ls "$dist"/labapp_*_amd64.deb)
depends=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/,/ /g')
# What a desktop has, and what the trial itself needs: a display, a sound server, a clock.
inside apt-get update -qq
# shellcheck disable=SC2086
inside apt-get install -y -qq --no-install-recommends $depends fonts-dejavu-core libasound2-plugins \
  xvfb pulseaudio pulseaudio-utils procps >"$work/apt.log" 2>&1 || { tail "$work/apt.log"; exit 1; }
inside id lab >/dev/null 2>&1 || inside useradd --create-home lab
if ls "$root"/usr/bin/python* >/dev/null 2>&1; then echo "there is a Python in the bare root"; exit 1; fi

rm -rf "$root/trial" "$root/home/lab/away"
mkdir -p "$root/trial/wheels"
cp "$deb" "$here/virtual_microphone.sh" "$root/trial/"
cp "${LABAPP_TRIAL_WHEELS:-/nowhere}"/*.whl "$root/trial/wheels/" 2>/dev/null || true
mkdir "$root/home/lab/away"
tar --directory "$root/home/lab/away" --use-compress-program="zstd -d --long=27" \
  --extract --file "$dist"/labapp-*-linux-x64.tar.zst

inside chown -R lab:lab /home/lab/away

cat >"$root/trial/user.sh" <<'END'
set -eu
took() { # what, command...
  what=$1; shift
  begin=$(date +%s.%N)
  "$@" >"/tmp/$what.txt" 2>&1 || { status=$?; cat "/tmp/$what.txt"; echo "$what ended with $status"; exit 1; }
  end=$(date +%s.%N)
  printf '%-28s %6.2f s\n' "$what" "$(echo "$end $begin" | awk '{print $1 - $2}')"
}
cd "$HOME"
for turn in 1 2 3; do took "version-$turn" labapp --version; done
cat /tmp/version-1.txt
eval "$(sh /trial/virtual_microphone.sh start)"
Xvfb :7 -screen 0 1920x1080x24 -nolisten tcp >/tmp/xvfb.txt 2>&1 &
export DISPLAY=:7
for try in 1 2 3 4 5 6 7 8 9 10; do [ -S /tmp/.X11-unix/X7 ] && break; sleep 0.5; done
python=/opt/labapp/python/bin/python3
$python - <<'PY'
import math, struct, wave
with wave.open("/tmp/tone.wav", "wb") as tone:
    tone.setnchannels(1), tone.setsampwidth(2), tone.setframerate(48000)
    tone.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 20))) for i in range(48000 * 20)))
PY
(while :; do paplay --device=speaker /tmp/tone.wav || exit; done) &
speaking=$!
took doctor labapp doctor || true
grep -v "^ALSA" /tmp/doctor.txt
took session labapp run quickstart --participant P01 --simulate ascent
session=$(ls -d "$HOME"/.local/share/labapp/sessions/quickstart/*)
ls -l "$session" "$session"/audio
$python - "$session" <<'PY'
import array, pathlib, sys, wave
(sound, *_) = sorted(pathlib.Path(sys.argv[1], "audio").glob("*.wav"))
with wave.open(str(sound)) as recorded:
    values = array.array("h", recorded.readframes(recorded.getnframes())[: 2 * recorded.getnframes()])
    print(f"{sound.name}: {recorded.getnframes() / recorded.getframerate():.1f} s, loudest {max(values)}")
assert max(values) > 1000, "silence"
PY
took verify labapp sessions verify "$session"
took export labapp export "$session" --out bundle
took verify-bundle labapp sessions verify bundle
took analyze labapp analyze "$session" --out results
test -s results/report.html
echo "--- a user may not change it"
if labapp extras add lsl --from /trial/wheels; then echo "a user could"; exit 1; fi
kill $speaking
echo "--- the archive, in a folder of this user's"
away=$(ls -d "$HOME"/away/labapp-*)
mv "$away" "$HOME/away/a folder"
took archive-version "$HOME/away/a folder/labapp" --version
if ls /trial/wheels/*.whl >/dev/null 2>&1; then
  took extra-from-folder "$HOME/away/a folder/labapp" extras add lsl --from /trial/wheels
  tail -n 1 /tmp/extra-from-folder.txt
fi
"$HOME/away/a folder/labapp" extras
END

cat >"$root/trial/root.sh" <<'END'
set -eu
mount -t proc proc /proc
mount -t tmpfs tmpfs /tmp
mount -t tmpfs tmpfs /dev/shm 2>/dev/null || true
chmod 1777 /tmp
rm -rf /home/lab/.local /home/lab/.config /home/lab/.cache /home/lab/bundle /home/lab/results
begin=$(date +%s.%N)
dpkg -i /trial/labapp_*_amd64.deb
echo "dpkg -i $(echo "$(date +%s.%N) $begin" | awk '{printf "%.1f", $1 - $2}') s"
du -sm /opt/labapp
env -i PATH=/usr/bin:/bin HOME=/home/lab USER=lab LC_ALL=C.UTF-8 setpriv --reuid lab --regid lab --clear-groups sh /trial/user.sh
dpkg -r labapp
test ! -e /opt/labapp
test -d /home/lab/.local/share/labapp/sessions
echo "removed; the sessions are still there"
END
trap 'umount "$root/proc" "$root/tmp" "$root/dev/shm" 2>/dev/null || true' EXIT
unshare -m -p -n -f env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
  chroot "$root" sh /trial/root.sh
echo "the package works in a bare root"
