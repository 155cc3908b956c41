import { edited, endsOf, sample, withNumbers } from './byte-edits.js';
import { hostile, type HostileCase } from './hostile-case.js';

const RATE_HZ = 44_100;

/** The sample with the 64-bit or 32-bit content after a box type replaced. */
const mp4 = (type: string, numbers: Record<number, number>, name = 'tone.m4a'): Buffer =>
  withNumbers(sample(name), type, numbers);

function nestedBoxes(depth: number): Buffer {
  const bytes = Buffer.alloc(depth * 8 + 16);
  bytes.write('\0\0\0\x10ftypisom\0\0\0\0', 0, 'latin1');
  for (let level = 0; level < depth; level += 1) {
    bytes.writeUInt32BE((depth - level) * 8, 16 + level * 8);
    bytes.write('moov', 20 + level * 8, 'latin1');
  }
  return bytes;
}

/** Cluster times are written as `E7`, a size and that many bytes; this sets them all to 0. */
function withoutClusterTimes(bytes: Buffer): Buffer {
  return edited(bytes, (copy) => {
    for (const end of endsOf(bytes, Buffer.from('1f43b675', 'hex'))) {
      const at = bytes.indexOf(0xe7, end);
      const size = bytes.readUInt8(at + 1) & 0x7f;
      copy.fill(0, at + 2, at + 2 + size);
    }
  });
}

/** Makes the size of every segment and cluster unknown, as in live streams. */
function live(bytes: Buffer): Buffer {
  return edited(bytes, (copy) => {
    for (const id of ['18538067', '1f43b675']) {
      for (const end of endsOf(bytes, Buffer.from(id, 'hex'))) {
        const length = Math.clz32(bytes.readUInt8(end)) - 23;
        copy.fill(0xff, end, end + length);
        copy[end] = 0xff >> (length - 1);
      }
    }
  });
}

/** MP4, M4A, MOV and WebM files of 12.34 s whose tables are false (decision G-44). */
export const HOSTILE_CONTAINERS: readonly HostileCase[] = [
  hostile('M4A whose movie, track and media durations say 1 s', 13, () => {
    const movie = mp4('mvhd', { 16: 1000 });
    return withNumbers(withNumbers(movie, 'tkhd', { 20: 1000 }), 'mdhd', { 16: RATE_HZ });
  }),
  hostile('M4A whose frames last one tick each', 'refused', () => mp4('stts', { 12: 1 })),
  hostile('M4A whose edit list lasts 1 s', 13, () => mp4('elst', { 8: 1000 })),
  hostile('M4A whose edit list begins at 11 s', 13, () => mp4('elst', { 12: 11 * RATE_HZ })),
  hostile('M4A whose clock runs sixty times faster', 'refused', () =>
    mp4('mdhd', { 12: RATE_HZ * 60 }),
  ),
  hostile('M4A whose clock stands', 'refused', () => mp4('mdhd', { 12: 0 })),
  hostile('M4A whose size table has 40 packets', 'refused', () => mp4('stsz', { 8: 40 })),
  hostile('M4A whose size table has 4 billion packets', 'refused', () =>
    mp4('stsz', { 4: 1, 8: 0xffffffff }),
  ),
  hostile('M4A whose time table has 4 billion runs', 'refused', () =>
    mp4('stts', { 4: 0xffffffff }),
  ),
  hostile('M4A whose chunks lie behind its end', 'refused', () => mp4('stco', { 8: 0x7fffffff })),
  hostile('M4A whose media lies in another file', 'refused', () => mp4('url ', { 0: 0 })),
  hostile('M4A that is encrypted', 'refused', () =>
    edited(sample('tone.m4a'), (copy) => {
      const [end] = endsOf(copy, 'stsd');
      if (end !== undefined) copy.write('enca', end + 12, 'latin1');
    }),
  ),
  hostile('M4A without a movie', 'refused', () =>
    edited(sample('tone.m4a'), (copy) => {
      for (const end of endsOf(copy, 'moov')) copy.write('free', end - 4, 'latin1');
    }),
  ),
  hostile('M4A whose first box is 2^62 bytes long', 'refused', () =>
    Buffer.concat([
      sample('tone.m4a').subarray(0, 28),
      Buffer.from('00000001', 'hex'),
      Buffer.from('mdat'),
      Buffer.from('4000000000000000', 'hex'),
    ]),
  ),
  hostile('MP4 of 20,000 nested movies', 'refused', () => nestedBoxes(20_000)),
  hostile('MP4 cut off in its media', 'refused', () => {
    const bytes = sample('fragmented.mp4');
    return bytes.subarray(0, bytes.length - 20_000);
  }),
  hostile('two M4A files joined', 'refused', () =>
    Buffer.concat([sample('tone.m4a'), sample('tone.m4a')]),
  ),
  hostile('fragmented MP4 whose packets last one tick each', 'refused', () =>
    edited(mp4('trex', { 12: 1 }, 'fragmented.mp4'), (copy) => {
      for (const end of endsOf(copy, 'tfhd')) {
        if ((copy.readUInt32BE(end) & 8) !== 0) copy.writeUInt32BE(1, end + 8);
      }
    }),
  ),
  hostile('fragmented MP4 whose fragments all begin at 0', 13, () =>
    edited(sample('fragmented.mp4'), (copy) => {
      for (const end of endsOf(copy, 'tfdt')) copy.fill(0, end + 4, end + 12);
    }),
  ),
  hostile('fragmented MP4 with a fragment of no track', 'refused', () =>
    mp4('tfhd', { 4: 99 }, 'fragmented.mp4'),
  ),
  hostile('MOV whose movie duration says 1 s', 13, () => mp4('mvhd', { 16: 1000 }, 'tone.mov')),
  hostile('MOV of plain samples whose table says 4 billion', 'refused', () =>
    mp4('stsz', { 8: 0xffffffff }, 'pcm-2s.mov'),
  ),
  hostile('MOV of plain samples whose table says 1', 'refused', () =>
    mp4('stsz', { 8: 1 }, 'pcm-2s.mov'),
  ),
  hostile('MP4 with pictures alone', 'refused', () =>
    edited(sample('tone.mp4'), (copy) => {
      for (const end of endsOf(copy, 'soun')) copy.write('text', end - 4, 'latin1');
    }),
  ),

  hostile('WebM whose duration says 1 s', 13, () =>
    edited(sample('tone.webm'), (copy) => {
      for (const end of endsOf(copy, Buffer.from('448988', 'hex'))) copy.writeDoubleBE(1000, end);
    }),
  ),
  hostile('WebM whose clusters all begin at 0', 'refused', () =>
    withoutClusterTimes(sample('tone.webm')),
  ),
  hostile('WebM whose ticks last 100 ns', 'refused', () =>
    edited(sample('tone.webm'), (copy) => {
      for (const end of endsOf(copy, Buffer.from('2ad7b1', 'hex')))
        copy.writeUIntBE(100, end + 1, 3);
    }),
  ),
  hostile('WebM cut off at 70 %', 'refused', () => {
    const bytes = sample('tone.webm');
    return bytes.subarray(0, Math.floor(bytes.length * 0.7));
  }),
  hostile('WebM of unknown sizes, as streamed live', 13, () => live(sample('tone.webm'))),
  hostile('WebM of Vorbis of unknown sizes', 13, () => live(sample('vorbis.webm'))),
  hostile('two WebM files joined', 'refused', () =>
    Buffer.concat([sample('tone.webm'), sample('tone.webm')]),
  ),
  hostile('WebM with noise between its clusters', 'refused', () => {
    const bytes = live(sample('tone.webm'));
    const [, second] = endsOf(bytes, Buffer.from('1f43b675', 'hex'));
    const at = (second ?? 4) - 4;
    return Buffer.concat([bytes.subarray(0, at), Buffer.alloc(1000, 0x55), bytes.subarray(at)]);
  }),
  hostile('Matroska that is not WebM', 'refused', () =>
    edited(sample('tone.webm'), (copy) => copy.write('mkv1', copy.indexOf('webm'), 'latin1')),
  ),
];
