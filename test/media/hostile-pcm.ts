import { aiffFile } from './aiff-file.js';
import { edited, endsOf, sample } from './byte-edits.js';
import { flacFile } from './flac-file.js';
import { hostile, type HostileCase } from './hostile-case.js';
import { mp3File } from './mp3-file.js';
import { pcmBytes, riffChunk, wavFormat, wavOf } from './wav-file.js';

const SAMPLES = 98_720;
const SECOND = 8_000;
const pcm = pcmBytes(SAMPLES);
const data = (size?: number): Buffer => riffChunk('data', pcm, size);
const wide = (size: bigint): Buffer => {
  const content = Buffer.alloc(28);
  content.writeBigUInt64LE(size, 8);
  return riffChunk('ds64', content);
};
const UNKNOWN = 0xffffffff;

/** WAV, AIFF and FLAC files with 12.34 s of sound at 8 kHz whose headers are false (decision G-44). */
export const HOSTILE_PCM: readonly HostileCase[] = [
  hostile('WAV whose data size says 1 s', 13, () => wavOf([wavFormat(), data(SECOND * 2)])),
  hostile('WAV whose data size is 0', 13, () => wavOf([wavFormat(), data(0)])),
  hostile('WAV whose sizes are unknown', 13, () =>
    wavOf([wavFormat(), data(UNKNOWN)], { size: UNKNOWN }),
  ),
  hostile('WAV whose outer size says 1 s', 13, () =>
    wavOf([wavFormat(), data()], { size: SECOND * 2 }),
  ),
  hostile('WAV whose rate is eight times higher, and so plays faster', 2, () =>
    wavOf([wavFormat({ rateHz: SECOND * 8 }), data()]),
  ),
  hostile('WAV whose block align is 64', 'refused', () =>
    wavOf([wavFormat({ blockAlign: 64 }), data()]),
  ),
  hostile('WAV whose block align is 0', 'refused', () =>
    wavOf([wavFormat({ blockAlign: 0 }), data()]),
  ),
  hostile('WAV whose sample rate is 0', 'refused', () => wavOf([wavFormat({ rateHz: 0 }), data()])),
  hostile('WAV with 1 s, then a second data chunk', 'refused', () =>
    wavOf([wavFormat(), riffChunk('data', pcm.subarray(0, SECOND * 2)), data()]),
  ),
  hostile('WAV with 1 s, then MP3 frames', 'refused', async () =>
    Buffer.concat([
      wavOf([wavFormat(), riffChunk('data', pcm.subarray(0, SECOND * 2))]),
      await mp3File(12.34),
    ]),
  ),
  hostile('two WAV files joined', 'refused', () => {
    const whole = wavOf([wavFormat(), data()]);
    return Buffer.concat([whole, whole]);
  }),
  hostile('WAV with two format chunks', 'refused', () =>
    wavOf([wavFormat({ rateHz: 48_000 }), wavFormat(), data()]),
  ),
  hostile('WAV with its data before its format', 'refused', () => wavOf([data(), wavFormat()])),
  hostile('ADPCM WAV whose fact chunk says 1 s', 13, () =>
    edited(sample('adpcm.wav'), (copy) => {
      for (const end of endsOf(copy, 'fact')) copy.writeUInt32LE(SECOND, end + 4);
    }),
  ),
  hostile('RF64 whose 64-bit size says 1 s', 13, () =>
    wavOf([wide(BigInt(SECOND * 2)), wavFormat(), data(UNKNOWN)], { id: 'RF64' }),
  ),
  hostile('RF64 whose 64-bit size is endless', 13, () =>
    wavOf([wide(2n ** 62n), wavFormat(), data(UNKNOWN)], { id: 'RF64' }),
  ),
  hostile('WAV with an empty data chunk', 'refused', () =>
    wavOf([wavFormat(), riffChunk('data', Buffer.alloc(0))]),
  ),
  hostile('WAV cut off inside its header', 'refused', () =>
    wavOf([wavFormat(), data()]).subarray(0, 30),
  ),

  hostile('AIFF whose frame count says 1 s', 'refused', () =>
    aiffFile(SAMPLES, SECOND, { declaredFrames: SECOND }),
  ),
  hostile('AIFF whose sound chunk says 1 s', 13, () =>
    aiffFile(SAMPLES, SECOND, { soundSize: SECOND * 2 }),
  ),
  hostile('AIFF whose frame count and sound chunk say 1 s', 'refused', () =>
    aiffFile(SAMPLES, SECOND, { soundSize: SECOND * 2, declaredFrames: SECOND }),
  ),
  hostile('AIFF whose rate is endless', 'refused', () =>
    aiffFile(SAMPLES, SECOND, { rate: Buffer.alloc(10, 0x7f) }),
  ),
  hostile('AIFF whose rate is 0', 'refused', () =>
    aiffFile(SAMPLES, SECOND, { rate: Buffer.alloc(10) }),
  ),
  hostile('AIFF whose sound begins half a second late', 12, () =>
    aiffFile(SAMPLES, SECOND, { soundOffset: SECOND }),
  ),
  hostile('AIFF whose sound begins behind its end', 'refused', () =>
    aiffFile(SAMPLES, SECOND, { soundOffset: UNKNOWN }),
  ),

  hostile('FLAC whose total is 0', 13, () => withTotal(0n)),
  hostile('FLAC whose total says 1 s', 13, () => withTotal(8_000n)),
  hostile('FLAC whose total is the largest', 13, () => withTotal(2n ** 36n - 1n)),
  hostile('FLAC whose header has another rate than its frames', 'refused', () =>
    edited(sample('tone.flac'), (copy) => copy.writeUIntBE((655_350 << 4) & 0xffffff, 18, 3)),
  ),
  hostile('FLAC whose frames all have one number', 'refused', () =>
    flacFile(SAMPLES, SECOND, 'all zero'),
  ),
  hostile('two FLAC files joined', 25, () =>
    Buffer.concat([sample('tone.flac'), sample('tone.flac')]),
  ),
  hostile('FLAC whose metadata never ends', 'refused', () =>
    edited(sample('tone.flac'), (copy) => copy.writeUIntBE(0xffffff, 5, 3)),
  ),
];

function withTotal(samples: bigint): Buffer {
  return edited(sample('tone.flac'), (copy) => {
    const fields = copy.readBigUInt64BE(18);
    copy.writeBigUInt64BE((fields & ~(2n ** 36n - 1n)) | samples, 18);
  });
}
