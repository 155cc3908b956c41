import { describe, expect, it } from '@jest/globals';
import { urlsAtPaths } from './vendor-paths.js';

const [A, B] = ['https://cdn.test/a', 'http://cdn.test/b'];

describe('the URLs of a result', () => {
  it.each<[object, string[], string[]]>([
    [{ video: { url: A } }, ['video.url'], [A]],
    [{ output: [A, B] }, ['output'], [A, B]],
    [{ output: [A, B] }, ['output.*'], [A, B]],
    [{ output: [A, B] }, ['output.1'], [B]],
    [{ images: [{ url: A }, { url: B }] }, ['images.*.url'], [A, B]],
    [{ images: [{ url: A }, { url: B }] }, ['images.url'], []],
    [
      { sets: [{ images: [{ url: A }] }, { images: [{ url: B }] }] },
      ['sets.*.images.*.url'],
      [A, B],
    ],
    [{ images: [{ url: A }, {}, null, 7, { url: 7 }] }, ['images.*.url'], [A]],
    [{ images: {} }, ['images.*.url'], []],
    [{ images: [], image: { url: B } }, ['images.*.url', 'image.url'], [B]],
    [{ images: [{ url: 'file:///a' }, { url: `${A}${'a'.repeat(2_048)}` }] }, ['images.*.url'], []],
    [{ output: [[A], B] }, ['output'], [B]],
  ])('in %j at %j are %j', (json, paths, urls) => {
    expect(urlsAtPaths(json, paths)).toEqual(urls);
  });
});
