import { describe, expect, it } from '@jest/globals';
import { billedSource } from './dubbing-source.js';

const media = {
  path: '/tmp/source',
  sizeBytes: 44,
  filename: 'audio.mp3',
  contentType: 'audio/mpeg',
};
const length = { format: 'mp3', durationMicros: 1_000_000n, hasVideo: false } as const;

describe('The name of a source', () => {
  it.each([
    ['https://example.com/talk.wav?a=b.c', 'talk.mp3'],
    ['https://example.com/%E9%9F%B3.mp3', '音.mp3'],
    ['https://example.com/a%2Fb.mp3', 'b.mp3'],
    ['https://example.com/%zz.mp3', '%zz.mp3'],
    ['https://example.com/', 'source.mp3'],
    ['https://example.com', 'source.mp3'],
    ['https://example.com/a%00b%0D%0Ac%7F%C2%85.mp3', 'abc.mp3'],
    ['https://example.com/%00%01.mp3', 'source.mp3'],
  ])('at %s is %s', (url, filename) => {
    const source = billedSource({ media, length, param: 'source_url' }, url, { maxSeconds: 1_800 });

    expect(source.media).toEqual({ ...media, filename });
  });
});
