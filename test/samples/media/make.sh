#!/bin/sh
# Makes the media samples of this folder anew: 12.34 s of a 440 Hz sine (the video in tone.mp4 lasts 15 s). Needs ffmpeg.
set -eu
cd "$(dirname "$0")"
sample() {
  ffmpeg -hide_banner -loglevel error -y -f lavfi -i sine=frequency=440:sample_rate=44100:duration=12.34 "$@"
}
sample -bitexact -c:a aac -b:a 24k tone.aac
sample -bitexact -c:a aac -b:a 24k tone.m4a
sample -bitexact -c:a aac -b:a 24k tone.mov
sample -f lavfi -i testsrc=size=32x32:rate=2:duration=15 -bitexact -c:a aac -b:a 24k -c:v libx264 -crf 40 tone.mp4
sample -bitexact -c:a aac -b:a 24k -movflags frag_keyframe+empty_moov+default_base_moof -frag_duration 1000000 fragmented.mp4
sample -bitexact -ar 8000 -c:a flac -compression_level 8 tone.flac
sample -bitexact -ar 8000 -t 4 -c:a alac alac-4s.m4a
sample -bitexact -ar 8000 -c:a flac flac.ogg
sample -bitexact -ar 16000 -c:a libvorbis -q:a -1 tone.ogg
sample -bitexact -ar 16000 -c:a libvorbis -q:a -1 vorbis.webm
sample -bitexact -c:a libopus -b:a 12k opus.ogg
sample -bitexact -c:a libopus -b:a 12k opus.mp4
sample -bitexact -c:a libopus -b:a 12k tone.webm
sample -bitexact -ar 22050 -c:a libmp3lame -b:a 24k tone.mp3
sample -bitexact -ar 8000 -c:a adpcm_ima_wav adpcm.wav
sample -bitexact -ar 8000 -c:a pcm_s16le -t 2 pcm-2s.mov
