import { describe, expect, it } from '@jest/globals';

import { aiffFile } from '../../../test/media/aiff-file.js';
import { edited, endsOf, sample, withNumbers } from '../../../test/media/byte-edits.js';
import { flacFile } from '../../../test/media/flac-file.js';
import { id3Tag } from '../../../test/media/hostile-frames.js';
import { mp3File } from '../../../test/media/mp3-file.js';
import { muxedOpus, muxedTracks } from '../../../test/media/muxed-file.js';
import { opusPages, writePages } from '../../../test/media/ogg-file.js';
import { pcmBytes, riffChunk, wavFile, wavFormat, wavOf } from '../../../test/media/wav-file.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import { billableSeconds } from '../../common/time/billable-seconds.js';
import { measureBytes } from './media-duration.js';

const billed = (media: Buffer): number =>
  Number(billableSeconds(measureBytes(media).durationMicros));

describe('measureBytes on honest files', () => {
  it.each([
    ['tone.aac', 'aac', 13],
    ['tone.m4a', 'm4a', 13],
    ['tone.mov', 'mov', 13],
    ['tone.mp4', 'mp4', 13],
    ['fragmented.mp4', 'mp4', 13],
    ['opus.mp4', 'mp4', 13],
    ['alac-4s.m4a', 'm4a', 4],
    ['pcm-2s.mov', 'mov', 2],
    ['tone.flac', 'flac', 13],
    ['flac.ogg', 'ogg', 13],
    ['opus.ogg', 'ogg', 13],
    ['tone.ogg', 'ogg', 13],
    ['tone.webm', 'webm', 13],
    ['vorbis.webm', 'webm', 13],
    ['tone.mp3', 'mp3', 13],
    ['adpcm.wav', 'wav', 13],
  ])('recognizes %s as %s and bills %i s', (name, format, seconds) => {
    expect(measureBytes(sample(name)).format).toBe(format);
    expect(billed(sample(name))).toBe(seconds);
  });

  it.each(['alaw', 'µ-law', 'float', '24-bit stereo'])('measures a WAV of %s exactly', (name) => {
    const format = {
      alaw: { code: 6, bits: 8 },
      'µ-law': { code: 7, bits: 8 },
      float: { code: 3, bits: 32 },
      '24-bit stereo': { bits: 24, channels: 2 },
    }[name];
    const frameBytes = ((format?.bits ?? 0) / 8) * (format?.channels ?? 1);
    const data = riffChunk('data', Buffer.alloc(98_720 * frameBytes));
    const wav = wavOf([wavFormat(format), riffChunk('LIST', Buffer.from('INFO')), data]);
    expect(measureBytes(wav).durationMicros).toBe(12_340_000n);
  });

  it('ignores chunks that follow the data of a WAV', () => {
    const data = riffChunk('data', Buffer.alloc(8_001, 1));
    const wav = wavOf([wavFormat({ bits: 8 }), data, riffChunk('LIST', Buffer.alloc(4_000))]);
    expect(measureBytes(wav).durationMicros).toBe(1_000_125n);
  });

  it('measures a WAV and an AIFF whose tag follows the sound in a chunk of its own', () => {
    const tag = id3Tag(1_001);
    const data = riffChunk('data', pcmBytes(98_720));
    const wav = wavOf([wavFormat(), data, riffChunk('ID3 ', tag)]);
    expect(measureBytes(wav).durationMicros).toBe(12_340_000n);
    const tagChunk = riffChunk('ID3 ', tag);
    tagChunk.writeUInt32BE(tag.length, 4);
    const aiff = Buffer.concat([aiffFile(98_720), tagChunk]);
    expect(measureBytes(aiff).durationMicros).toBe(12_340_000n);
  });

  it('measures generated MP3 and AIFF', async () => {
    expect(billed(await mp3File(12.34, { rateHz: 44_100, channels: 2 }))).toBe(13);
    expect(billed(await mp3File(12, { rateHz: 22_050, kbps: 32 }))).toBe(12);
    expect(measureBytes(aiffFile(98_720)).durationMicros).toBe(12_340_000n);
  });

  it('measures Opus muxed to WebM and MP4 exactly', async () => {
    expect(measureBytes(await muxedOpus('webm', 98_720 * 6)).format).toBe('webm');
    expect(billed(await muxedOpus('webm', 98_720 * 6))).toBe(13);
    expect(billed(await muxedOpus('mp4', 98_720 * 6))).toBe(13);
  });

  it('counts the longest of several audio tracks', async () => {
    expect(billed(await muxedTracks('mp4', [48_000, 592_320]))).toBe(13);
    expect(billed(await muxedTracks('webm', [592_320, 48_000]))).toBe(13);
  });

  it('measures the track beside the spatial audio track of an iPhone, and rejects one without', async () => {
    const withSpatial = (media: Buffer, track: number) =>
      edited(media, (copy) => {
        copy.write('apac', (endsOf(copy, 'Opus')[track] ?? 0) - 4, 'latin1');
      });
    expect(billed(withSpatial(await muxedTracks('mp4', [592_320, 96_000]), 1))).toBe(13);
    expect(billed(withSpatial(await muxedTracks('mp4', [96_000, 592_320]), 1))).toBe(13);
    const alone = withSpatial(await muxedTracks('mp4', [592_320]), 0);
    expect(() => measureBytes(alone)).toThrow('it holds no audio');
  });

  it('reports a video track that is longer than the audio', () => {
    const { hasVideo, videoDurationMicros: videoLengthMicros } = measureBytes(sample('tone.mp4'));
    expect(hasVideo).toBe(true);
    expect(videoLengthMicros).toBe(15_000_000n);
    expect(measureBytes(sample('tone.m4a')).hasVideo).toBe(false);
  });

  it('counts the longest track of an MP4 whose other track is short', () => {
    expect(billed(sample('tone.mp4'))).toBe(13);
  });
});

describe('measureBytes at the boundaries of a billed second', () => {
  const CENTISECONDS = [100, 460, 30_000, 180_000, 360_000, 720_000].flatMap((base) =>
    [9, 10, 11].map((more) => base + more),
  );
  const expected = (centiseconds: number): number => Math.ceil((centiseconds - 10) / 100);

  it.each(CENTISECONDS)(
    'bills %i hundredths of a second of WAV, FLAC and Opus exactly',
    (length) => {
      expect(billed(wavFile(length * 10, 1_000, 8))).toBe(expected(length));
      expect(billed(flacFile(length * 80))).toBe(expected(length));
      expect(billed(writePages(opusPages(length * 480)))).toBe(expected(length));
    },
  );

  it('bills 12 s for 533,610 samples at 44.1 kHz and 13 s for one more (AUD-41)', () => {
    expect(billed(wavFile(533_610, 44_100))).toBe(12);
    expect(billed(wavFile(533_611, 44_100))).toBe(13);
  });
});

describe('measureBytes and declared durations', () => {
  it('bills the 10 s a file holds, not the 1 s it declares (AUD-21, G-44)', async () => {
    const wav = wavOf([wavFormat(), riffChunk('data', pcmBytes(80_000), 16_000)]);
    expect(billed(wav)).toBe(10);
    const mp3 = edited(sample('tone.mp3'), (copy) => {
      for (const end of endsOf(copy, 'Info')) copy.writeUInt32BE(38, end + 4);
    });
    expect(billed(mp3)).toBe(13);
    expect(billed(withNumbers(sample('tone.mp4'), 'mvhd', { 16: 1_000 }))).toBe(13);
    expect(billed(await muxedOpus('webm', 480_000))).toBe(10);
  });

  it('rejects a file without audio with unsupported_audio_format', () => {
    const broken = [Buffer.alloc(0), Buffer.from('text'), wavFile(0), wavFile(10).subarray(0, 20)];
    for (const media of broken) {
      expect(() => measureBytes(media)).toThrow(GatewayError);
      expect(() => measureBytes(media)).toThrow(/^The media format is unsupported/);
    }
  });
});
