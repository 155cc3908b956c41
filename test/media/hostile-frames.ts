import { edited, endsOf, sample } from './byte-edits.js';
import { hostile, type HostileCase } from './hostile-case.js';
import { mp3File } from './mp3-file.js';

const MEGABYTE = 1_000_000;

/** An ID3v2 tag that claims `size` bytes of content. */
export function id3Tag(size: number, content = Buffer.alloc(size)): Buffer {
  const sizeBytes = [21, 14, 7, 0].map((shift) => (size >> shift) & 127);
  return Buffer.concat([Buffer.from('ID3\x04\0\0', 'latin1'), Buffer.from(sizeBytes), content]);
}

/** The tone as MP3 with an information frame whose frame count is `frames`. */
function withInformation(mark: string, frames: number): Buffer {
  return edited(sample('tone.mp3'), (copy) => {
    const [end] = endsOf(copy, 'Info');
    if (end === undefined) throw new Error('the sample has no information frame');
    copy.write(mark, end - 4, 'latin1');
    copy.writeUInt32BE(frames, end + 4);
  });
}

/** Splits ADTS into its frames. */
function adtsFrames(bytes: Buffer): Buffer[] {
  const frames: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const size = (bytes.readUIntBE(at + 3, 3) >> 5) & 0x1fff;
    frames.push(bytes.subarray(at, at + size));
    at += size;
  }
  return frames;
}

const rateIndex = (bytes: Buffer, index: number, from = 0): Buffer => {
  const frames = adtsFrames(Buffer.from(bytes));
  for (const frame of frames.slice(from)) frame[2] = ((frame[2] ?? 0) & 0xc3) | (index << 2);
  return Buffer.concat(frames);
};

const noise = (size: number): Buffer => {
  let state = 1;
  const bytes = Buffer.alloc(size);
  for (let at = 0; at < size; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    bytes[at] = state >>> 24;
  }
  return bytes;
};

/** MP3 and ADTS files of 12.34 s whose headers are false, and files that are no media (decision G-44). */
export const HOSTILE_FRAMES: readonly HostileCase[] = [
  hostile('MP3 whose Xing frame says 10 frames', 13, () => withInformation('Xing', 10)),
  hostile('MP3 whose Info frame says 1 s', 13, () => withInformation('Info', 38)),
  hostile('MP3 of 0.2 s at 320 kbps, then 12.34 s at 32 kbps', 13, async () =>
    Buffer.concat([await mp3File(0.2, { kbps: 320 }), await mp3File(12.34, { kbps: 32 })]),
  ),
  hostile('MP3 behind 20 MB of ID3v2 padding', 13, () =>
    Buffer.concat([id3Tag(20 * MEGABYTE), sample('tone.mp3')]),
  ),
  hostile('MP3 whose ID3v2 tag reaches past its end', 'refused', () =>
    Buffer.concat([id3Tag(MEGABYTE, Buffer.alloc(0)), sample('tone.mp3')]),
  ),
  hostile('MP3 with 70 kB of zeros between its frames', 13, async () => {
    const mp3 = await mp3File(12.34);
    return Buffer.concat([mp3.subarray(0, 20_000), Buffer.alloc(70_000), mp3.subarray(20_000)]);
  }),
  hostile('MP3 with 5 MB of zeros behind', 13, () =>
    Buffer.concat([sample('tone.mp3'), Buffer.alloc(5 * MEGABYTE)]),
  ),
  hostile('MP3 with 10 MB of sync bytes behind', 13, () =>
    Buffer.concat([sample('tone.mp3'), Buffer.alloc(10 * MEGABYTE, 0xff)]),
  ),
  hostile('two MP3 files joined, the first with an information frame', 25, () =>
    Buffer.concat([sample('tone.mp3'), sample('tone.mp3')]),
  ),
  hostile('MP3 of 0.2 s mono, then 12.34 s stereo', 13, async () =>
    Buffer.concat([await mp3File(0.2), await mp3File(12.34, { channels: 2 })]),
  ),
  hostile('MP3 of 0.2 s at 44.1 kHz, then 12.34 s at 22.05 kHz', 13, async () =>
    Buffer.concat([await mp3File(0.2), await mp3File(12.34, { rateHz: 22_050, kbps: 32 })]),
  ),
  hostile('MP3 whose frames all stand alone', 'refused', async () => {
    const mp3 = await mp3File(12.34, { rateHz: 16_000, kbps: 32 });
    const frames: Buffer[] = [];
    for (let at = 0; at + 144 <= mp3.length; at += 144) {
      frames.push(mp3.subarray(at, at + 144), Buffer.from([0]));
    }
    return Buffer.concat(frames);
  }),
  hostile('MP3 of 1 s whole, then frames that stand alone', 14, async () => {
    const mp3 = await mp3File(12.34, { rateHz: 16_000, kbps: 32 });
    const frames: Buffer[] = [mp3.subarray(0, 144 * 28)];
    for (let at = 0; at + 144 <= mp3.length; at += 144) {
      frames.push(mp3.subarray(at, at + 144), Buffer.from([0]));
    }
    return Buffer.concat(frames);
  }),

  hostile('ADTS whose headers all say 96 kHz, and so plays faster', 6, () =>
    rateIndex(sample('tone.aac'), 0),
  ),
  hostile('ADTS whose rate switches to 8 kHz midway', 'refused', () =>
    rateIndex(sample('tone.aac'), 11, 10),
  ),
  hostile('ADTS behind 20 MB of ID3v2', 13, () =>
    Buffer.concat([id3Tag(20 * MEGABYTE), sample('tone.aac')]),
  ),
  hostile('ADTS of 1 s whole, then frames that stand alone', 14, () => {
    const frames = adtsFrames(sample('tone.aac'));
    const apart = frames.flatMap((frame) => [frame, Buffer.from([0])]);
    return Buffer.concat([...frames.slice(0, 43), ...apart]);
  }),
  hostile('two ADTS files joined', 25, () =>
    Buffer.concat([sample('tone.aac'), sample('tone.aac')]),
  ),

  hostile('an HLS playlist', 'refused', () =>
    Buffer.from('#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nhttp://127.0.0.1/a.mp3\n'),
  ),
  hostile('a concatenation script', 'refused', () =>
    Buffer.from("ffconcat version 1.0\nfile '/etc/passwd'\n"),
  ),
  hostile('an empty file', 'refused', () => Buffer.alloc(0)),
  hostile('random bytes', 'refused', () => noise(200_000)),
  hostile('50 MB of sync bytes', 'refused', () => Buffer.alloc(50 * MEGABYTE, 0xff)),
  hostile('a text', 'refused', () => Buffer.from('Hello, world. '.repeat(1000))),
  hostile('a PDF', 'refused', () => Buffer.from('%PDF-1.7\n%âãÏÓ\n1 0 obj\n<<>>\nendobj\n')),
  hostile('a PNG', 'refused', () =>
    Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), noise(5_000)]),
  ),
];
