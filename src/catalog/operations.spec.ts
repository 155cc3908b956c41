import { describe, expect, it } from '@jest/globals';
import { apiFamilyOf } from './operations.js';

describe('the API family of a path', () => {
  it.each([
    ['/v1/chat/completions', 'general'],
    ['/v1/images/generations', 'general'],
    ['/v1/videos', 'video'],
    ['/v1/videos/video_1/content', 'video'],
    ['/v1/audio/speech', 'audio'],
    ['/v1/audio/speech/', 'audio'],
    ['/v1/audio/dubbing', 'dubbing'],
    ['/v1/audio/unknown', 'audio'],
    ['/v1/music/generations', 'song'],
    ['/v1/music/unknown', 'song'],
    ['/v1/tasks', 'general'],
    ['/v1', 'general'],
    ['/', 'general'],
  ])('of %s is %s', (path, family) => {
    expect(apiFamilyOf(path)).toBe(family);
  });
});
