import { describe, expect, it } from '@jest/globals';
import { generatedImagesOf } from './generated-image.js';

const item = (name: string) => ({ b64_json: name });

describe('the images of a response', () => {
  it.each([
    ['of data', { data: [item('a'), item('b')] }, ['a', 'b']],
    ['of images', { images: [{ url: 'data:image/png;base64,a' }] }, ['a']],
    ['once where both lists have them', { data: [item('a')], images: [item('a')] }, ['a']],
    ['of images where data has none', { data: [{}], images: [item('a')] }, ['a']],
    ['no more than were asked for', { data: ['a', 'b', 'c', 'd'].map(item) }, ['a', 'b', 'c']],
    ['none', {}, []],
  ])('are taken: %s', (_which, response, expected) => {
    expect(generatedImagesOf(response, 3)).toEqual(expected.map((base64) => ({ base64 })));
  });
});
