import { describe, expect, it } from '@jest/globals';
import { dubFilename, dubTypeOf } from './dub-type.js';

describe('The type of a dub', () => {
  it.each([
    ['video/mp4', 'audio/mpeg', 'video/mp4'],
    ['Audio/MPEG; charset=binary', 'video/mp4', 'audio/mpeg'],
    ['application/octet-stream', 'video/mp4', 'video/mp4'],
    [null, 'audio/wav', 'audio/wav'],
    [null, null, 'audio/mpeg'],
    ['audio/<x>', 'text/html', 'audio/mpeg'],
  ])('that came as %j and was announced as %j is %s (CONTENT-03)', (declared, announced, type) => {
    expect(dubTypeOf(declared, announced)).toBe(type);
  });

  it.each([
    ['audio/mpeg', 'dubbed-fr.mp3'],
    ['video/mp4', 'dubbed-fr.mp4'],
    ['video/quicktime', 'dubbed-fr.mov'],
    ['audio/x-thing', 'dubbed-fr.thing'],
  ])('%s ends the name %s (CONTENT-02)', (type, name) => {
    expect(dubFilename('fr', type)).toBe(name);
  });
});
