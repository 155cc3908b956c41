import { describe, expect, it } from '@jest/globals';
import { Catalog } from '../../catalog/catalog.js';
import { BUILT_IN_MODELS } from '../../catalog/models/built-in.models.js';
import { GatewayError } from '../../common/errors/gateway-error.js';
import type { JsonObject } from '../../common/json-object.js';
import { SongBodyPipe } from './song-body.pipe.js';

const pipe = new SongBodyPipe(new Catalog(BUILT_IN_MODELS, () => true));

/** The field that was refused, or that the body was accepted. */
function verdictOf(body: JsonObject): string | null {
  try {
    pipe.transform(body);
    return 'accepted';
  } catch (error) {
    if (!(error instanceof GatewayError) || error.code !== 'invalid_music_request') throw error;
    return error.param;
  }
}

describe('the rules between fields', () => {
  const source = 'task_0123456789abcdef0123456789abcdef';
  const extend = { model: 'song-extend', source_task_id: source, continue_at: 30 };
  const music = { model: 'song-music', prompt: 'words' };

  it.each([
    ['style fields outside custom mode (SONG-43)', { ...music, style: 'rock' }, 'style'],
    ['a title outside custom mode (SONG-43)', { ...music, title: 'Rain' }, 'title'],
    ['tags outside custom mode (SONG-43)', { ...music, negative_tags: 'rock' }, 'negative_tags'],
    [
      'tags of a source-based model outside custom mode (SONG-43)',
      { ...extend, gen_description: 'x', tags: 'rock' },
      'tags',
    ],
    ['song-music without a prompt (SONG-43)', { model: 'song-music' }, 'prompt'],
    [
      'song-music without a prompt, instrumental (SONG-43)',
      { model: 'song-music', instrumental: true },
      'prompt',
    ],
    ['custom lyrics that are missing', { model: 'song-music', custom: true }, 'prompt'],
    ['custom lyrics that are blank', { model: 'song-music', custom: true, prompt: ' ' }, 'prompt'],
    ['lyrics of an instrumental song', { ...music, custom: true, instrumental: true }, 'prompt'],
    ['a description of more than 3,000', { ...music, prompt: 'x'.repeat(3_001) }, 'prompt'],
    ['a target duration outside custom mode (SONG-39)', { ...music, duration: 60 }, 'duration'],
    ['Max mode outside custom mode (SONG-36)', { ...music, max_mode: true }, 'max_mode'],
    [
      'Max mode with custom = false (SONG-36)',
      { ...music, max_mode: true, custom: false },
      'max_mode',
    ],
    [
      'Max mode that is no boolean (SONG-38)',
      { ...music, custom: true, max_mode: 'true' },
      'max_mode',
    ],
    ['Max mode that is a number (SONG-38)', { ...music, custom: true, max_mode: 1 }, 'max_mode'],
    ['custom that is no boolean (SONG-49)', { ...music, custom: 'true' }, 'custom'],
    ['a missing description (SONG-47)', extend, 'gen_description'],
    ['a blank description (SONG-47)', { ...extend, gen_description: ' ' }, 'gen_description'],
    [
      'a description in custom mode',
      { ...extend, custom: true, prompt: 'la', gen_description: 'x' },
      'gen_description',
    ],
    ['lyrics outside custom mode', { ...extend, gen_description: 'x', prompt: 'la' }, 'prompt'],
    [
      'a persona beside a custom model (SONG-25)',
      { ...music, persona_task_id: source, custom_model_task_id: source },
      'persona_task_id',
    ],
    [
      'a version beside a custom model (SONG-28)',
      { ...music, version: 'v6', custom_model_task_id: source },
      'version',
    ],
    ['an old version (SONG-30)', { ...music, version: 'v5' }, 'version'],
    ['a version in capitals (SONG-30)', { ...music, version: 'V6' }, 'version'],
    ['a version as a number (SONG-30)', { ...music, version: 6 }, 'version'],
    ['an empty version (SONG-30)', { ...music, version: '' }, 'version'],
    [
      'a singer of an instrumental song',
      { ...music, prompt: undefined, custom: true, instrumental: true, vocal_gender: 'male' },
      'vocal_gender',
    ],
    [
      'a range that ends where it begins',
      { model: 'song-crop', source_task_id: source, start_s: 5, end_s: 5 },
      'end_s',
    ],
    [
      'a section of less than 6 s',
      { model: 'song-replace-section', source_task_id: source, start_s: 5, end_s: 10.99 },
      'end_s',
    ],
    [
      'half a range',
      { model: 'song-add-stem', source_task_id: source, stem_type: 'cello', start_s: 5 },
      'end_s',
    ],
    [
      'the other half',
      { model: 'song-add-stem', source_task_id: source, stem_type: 'cello', end_s: 5 },
      'start_s',
    ],
    [
      'the same recording twice',
      {
        model: 'song-custom-model',
        name: 'x',
        audio_urls: Array(6).fill('https://a.example/1.mp3'),
      },
      'audio_urls',
    ],
    [
      'a speed of 1',
      { model: 'song-speed', source_task_id: source, speed_multiplier: 1 },
      'speed_multiplier',
    ],
    ['a tune of nothing', { model: 'tune-music' }, 'prompt'],
    [
      'an instrumental tune with lyrics',
      { model: 'tune-music', prompt: 'folk', lyrics: 'la', instrumental: true },
      'lyrics',
    ],
  ])('refuse %s', (_what, body, param) => {
    expect(verdictOf(body)).toBe(param);
  });

  it.each([
    [
      'an instrumental song without lyrics',
      { model: 'song-music', custom: true, instrumental: true },
    ],
    [
      'an instrumental song with empty lyrics',
      { model: 'song-music', custom: true, instrumental: true, prompt: '' },
    ],
    ['an instrumental song from a description', { ...music, instrumental: true }],
    ['Max mode that is false outside custom mode (SONG-32)', { ...music, max_mode: false }],
    [
      'Max mode on a model without custom (SONG-37)',
      {
        model: 'song-replace-section',
        source_task_id: source,
        start_s: 5,
        end_s: 11,
        max_mode: true,
      },
    ],
    ['a target duration in custom mode (SONG-39)', { ...music, custom: true, duration: 60 }],
    ['the most variety without Max mode (SONG-40)', { ...music, variety: 'max', max_mode: false }],
    [
      'an instrumental accompaniment without words',
      { model: 'song-add-instrumental', source_task_id: source, custom: true },
    ],
    [
      'an instrumental accompaniment with empty lyrics',
      {
        model: 'song-add-instrumental',
        source_task_id: source,
        custom: true,
        instrumental: true,
        prompt: '',
      },
    ],
    ['a tune of lyrics alone', { model: 'tune-music', lyrics: 'la' }],
    [
      'a tune of lyrics that is not instrumental',
      { model: 'tune-music', lyrics: 'la', instrumental: false },
    ],
    [
      'an instrumental tune from a style',
      { model: 'tune-music', prompt: 'folk', instrumental: true },
    ],
    ['null for an optional field', { ...music, version: null, max_mode: null }],
  ])('accept %s', (_what, body) => {
    expect(verdictOf(body)).toBe('accepted');
  });

  it.each([
    [{ model: 'song-music', prompt: ' ' }, 'must not be blank'],
    [{ model: 'song-music', custom: true, prompt: '' }, 'must not be blank'],
    [{ ...music, custom: true, instrumental: true }, 'cannot be combined with instrumental'],
  ])('say what is wrong with the words of %j', (body, says) => {
    expect(() => pipe.transform(body)).toThrow(`prompt ${says}.`);
  });

  it('fill in the defaults', () => {
    expect(pipe.transform({ ...extend, gen_description: 'x' })).toEqual({
      ...extend,
      gen_description: 'x',
      source_index: 1,
      custom: false,
      instrumental: false,
      max_mode: false,
    });
  });
});

describe('webhook and webhook_secret', () => {
  const secret = 'x'.repeat(16);
  const webhook = 'https://example.com/hook';
  const body = { model: 'song-lyrics', prompt: 'x' };

  it.each([
    ['no secret', { webhook }, 'webhook_secret'],
    ['no URL', { webhook_secret: secret }, 'webhook_secret'],
    ['a short secret', { webhook, webhook_secret: 'x'.repeat(15) }, 'webhook_secret'],
    ['a long secret', { webhook, webhook_secret: 'x'.repeat(257) }, 'webhook_secret'],
    ['no URL at all', { webhook: 'hook', webhook_secret: secret }, 'webhook'],
  ])('are refused with %s as invalid_task_command (SONG-52, G-76)', (_what, fields, param) => {
    expect(() => pipe.transform({ ...body, ...fields })).toThrow(
      expect.objectContaining({ code: 'invalid_task_command', param }),
    );
  });

  it.each([16, 256])('are accepted together, with a secret of %i (SONG-52)', (length) => {
    expect(verdictOf({ ...body, webhook, webhook_secret: 'x'.repeat(length) })).toBe('accepted');
  });
});
