import { describe, expect, it } from '@jest/globals';
import { overlay, problemOf } from '../../test/support/overlay-file.js';
import { loadCatalog } from './catalog-file.js';
import type { ModelRow } from './model-row.js';

const DEFAULT_ID = 'gen-4-mini';
const contentWith = (entry: object) => ({ models: [{ id: DEFAULT_ID, ...entry }] });

function rowWith(entry: object): ModelRow | undefined {
  const { id } = { id: DEFAULT_ID, ...entry };
  return loadCatalog(overlay(contentWith(entry))).rows.find((row) => row.id === id);
}

const problemWith = (entry: object): string => problemOf(contentWith(entry));

describe('the terms of a row', () => {
  it('are read from the overlay, headers by their lower-case names', () => {
    const row = rowWith({
      length_parameter: 'max_completion_tokens',
      stream_usage: false,
      rename: { seed: 'random_seed' },
      drop: ['user'],
      headers: { 'X-Title': 'Shop' },
      constants: { provider: { order: ['a'] } },
      timeout_ms: 900_000,
      send_traceparent: true,
      pass_fields: ['cache_control'],
    });
    expect(row?.terms).toEqual({
      outputCapParameter: 'max_completion_tokens',
      streamUsage: false,
      rename: { seed: 'random_seed' },
      drop: ['user'],
      headers: { 'x-title': 'Shop' },
      constants: { provider: { order: ['a'] } },
      timeoutMs: 900_000,
      sendsTraceParent: true,
      passFields: ['cache_control'],
    });
  });

  it('replace those of a built-in row key by key', () => {
    expect(rowWith({ id: 'gen-5', timeout_ms: 1000 })?.terms).toEqual({
      outputCapParameter: 'max_completion_tokens',
      timeoutMs: 1000,
    });
    expect(rowWith({ id: 'gen-5', length_parameter: 'num_predict' })?.terms).toEqual({
      outputCapParameter: 'num_predict',
    });
  });

  it('are absent if neither the row nor the overlay names any', () => {
    expect(rowWith({ enabled: true, timeout_ms: null })).not.toHaveProperty('terms');
  });

  it('carry the name of the cap for the two built-in models that reason', () => {
    const { rows } = loadCatalog(undefined);
    const named = rows.flatMap(({ id, terms }) => (terms?.outputCapParameter ? [id] : []));
    expect(named).toEqual(['gen-5', 'gen-5-mini']);
  });

  it.each([
    ['the key', { headers: { Authorization: 'Bearer x' } }, /headers\.authorization must not/],
    [
      'a key of ElevenLabs',
      { id: 'aud-v4', headers: { 'xi-api-key': 'x' } },
      /headers\.xi-api-key/,
    ],
    ['a key of TTAPI', { id: 'song-bpm', headers: { 'TT-API-KEY': 'x' } }, /headers\.tt-api-key/],
    ['the length', { headers: { 'Content-Length': '1' } }, /headers\.content-length/],
    ['the encoding', { headers: { 'Accept-Encoding': 'br' } }, /headers\.accept-encoding/],
    ['the model', { constants: { model: 'x' } }, /constants\.model must not/],
    ['the messages', { rename: { messages: 'input' } }, /rename\.messages must not/],
    ['another field as messages', { rename: { stop: 'messages' } }, /rename\.stop must not/],
    ['the system prompt', { constants: { system: 'Long' } }, /constants\.system must not/],
    ['stream', { drop: ['stop', 'stream'] }, /drop must not name stream/],
    ['the cap', { drop: ['max_tokens'] }, /drop must not name max_tokens/],
    ['the cap', { constants: { max_completion_tokens: 5 } }, /constants\.max_completion_tokens/],
    [
      'the cap under its own name',
      { length_parameter: 'num_predict', constants: { num_predict: 5 } },
      /constants\.num_predict/,
    ],
    ['the messages as the cap', { length_parameter: 'messages' }, /length_parameter must not/],
    ['the number of answers', { id: 'gen-image-2', constants: { n: 4 } }, /constants\.n must not/],
  ])('are refused where they touch %s, with row and field', (_what, entry, problem) => {
    expect(problemWith(entry)).toMatch(problem);
    expect(problemWith(entry)).toMatch(/^CATALOG_FILE: models\.0: .* \(model [\w.-]+\)$/);
  });

  it.each([
    [{ id: 'aud-v4', length_parameter: 'max_tokens' }, /length_parameter does not fit/],
    [{ id: 'gen-image-2', stream_usage: true }, /stream_usage does not fit/],
    [{ id: 'song-bpm', pass_fields: ['x'] }, /pass_fields does not fit/],
    [{ headers: { 'a b': 'x' } }, /models\.0\.headers must map/],
    [{ headers: { a: 'x\r\nb: y' } }, /models\.0\.headers must map/],
    [{ rename: { a: 1 } }, /models\.0\.rename must map/],
    [{ constants: ['x'] }, /models\.0\.constants must/],
    [{ aliases: ['a\nb'] }, /models\.0\.aliases\.0 must be printable/],
    [{ aliases: ['gpt-4o', 'gpt-4o\u200b'] }, /models\.0\.aliases\.1 must be printable/],
    [{ aliases: ['\u202egpt'] }, /models\.0\.aliases\.0 must be printable/],
    [{ aliases: [' gpt-4o'] }, /models\.0\.aliases\.0 must be printable/],
    [{ aliases: ['x'.repeat(201)] }, /models\.0\.aliases\.0 must be printable/],
    [{ aliases: ['gpt-4o', '\u0430ud-v4'] }, /models\.0\.aliases\.1 must be printable ASCII/],
    [{ timeout_ms: 0 }, /models\.0\.timeout_ms must be a whole number/],
    [{ drop: 'user' }, /models\.0\.drop must/],
    [{ length_parameter: 'max tokens' }, /models\.0\.length_parameter must be the name/],
  ])('are refused where they cannot be right: %j', (entry, problem) => {
    expect(problemWith(entry)).toMatch(problem);
  });
});
