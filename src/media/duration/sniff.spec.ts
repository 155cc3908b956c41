import { describe, expect, it } from '@jest/globals';

import { aiffFile } from '../../../test/media/aiff-file.js';
import { sample } from '../../../test/media/byte-edits.js';
import { id3Tag } from '../../../test/media/hostile-frames.js';
import { mp3File } from '../../../test/media/mp3-file.js';
import { pcmBytes, wavFile } from '../../../test/media/wav-file.js';
import { sniffFormat } from './sniff.js';

const HEAD_BYTES = 64;

describe('sniffFormat', () => {
  it('recognizes every format by its first 64 bytes', async () => {
    expect(sniffFormat(wavFile(1_000).subarray(0, HEAD_BYTES))).toBe('wav');
    expect(sniffFormat(aiffFile(1_000).subarray(0, HEAD_BYTES))).toBe('aiff');
    expect(sniffFormat((await mp3File(1)).subarray(0, HEAD_BYTES))).toBe('mp3');
    for (const format of ['aac', 'mp4', 'm4a', 'mov', 'flac', 'ogg', 'webm']) {
      expect(sniffFormat(sample(`tone.${format}`).subarray(0, HEAD_BYTES))).toBe(format);
    }
  });

  it('skips a leading tag, and assumes MP3 if the tag is longer than the head', () => {
    expect(sniffFormat(Buffer.concat([id3Tag(100), sample('tone.flac')]))).toBe('flac');
    const padded = Buffer.concat([id3Tag(100), Buffer.alloc(50), sample('tone.mp3')]);
    expect(sniffFormat(padded)).toBe('mp3');
    expect(sniffFormat(id3Tag(100_000).subarray(0, HEAD_BYTES))).toBe('mp3');
  });

  it.each(['B\x82\x84webm', 'B\x82@\x04webm', 'B\x82\x85webm\0', 'B\x82\x01\0\0\0\0\0\0\x04webm'])(
    'recognizes WebM in every encoding of its document type: %j',
    (type) => {
      const head = Buffer.from(`\x1aE\xdf\xa3\xa3B\x86\x81\x01${type}B\x87\x81\x02`, 'latin1');
      expect(sniffFormat(head)).toBe('webm');
    },
  );

  it.each(['B\x82\x88matroska', 'B\x82\0webm', 'B\x82', '', 'webm'])(
    'does not recognize WebM by %j',
    (type) => {
      expect(sniffFormat(Buffer.from(`\x1aE\xdf\xa3\xa3${type}`, 'latin1'))).toBeUndefined();
    },
  );

  it('returns undefined for raw samples, texts and other files', () => {
    expect(sniffFormat(pcmBytes(8_000))).toBeUndefined();
    expect(sniffFormat(Buffer.from('{"error":"none"}'))).toBeUndefined();
    expect(sniffFormat(Buffer.from('RIFF\0\0\0\0AVI LIST', 'latin1'))).toBeUndefined();
    expect(sniffFormat(Buffer.alloc(0))).toBeUndefined();
  });
});
