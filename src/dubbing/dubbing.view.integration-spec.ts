import { describe, expect, it } from '@jest/globals';
import { viewDubbingResult } from './dubbing.view.js';

const TASK = '0190a6a0-7c8b-7c6d-8f3b-2a1c0d9e8f7a';

describe('the result of a dub', () => {
  it.each([
    ['audio/mpeg', false],
    ['audio/mp4', false],
    ['video/mp4', true],
    ['video/webm', true],
    ['Video/MP4; codecs=avc1', true],
    ['application/octet-stream', false],
    [null, null],
  ])('of the type %s has has_video = %s (DUB-54, DUB-55, G-66)', (contentType, hasVideo) => {
    const result = viewDubbingResult(TASK, 'fr', {
      state: 'succeeded',
      sourceLanguage: 'en',
      contentType,
      durationSeconds: 61.2,
    });
    expect(result).toMatchObject({ content_type: contentType, has_video: hasVideo });
  });

  it('has null for each fact that the provider does not report (DUB-50 to DUB-53, DUB-56)', () => {
    const nothing = { sourceLanguage: null, contentType: null, durationSeconds: null };
    expect(viewDubbingResult(TASK, 'fil', { state: 'succeeded', ...nothing })).toEqual({
      urls: [],
      content_path: '/v1/tasks/task_0190a6a07c8b7c6d8f3b2a1c0d9e8f7a/content',
      target_language: 'fil',
      source_language: null,
      content_type: null,
      has_video: null,
      duration_seconds: null,
    });
  });
});
