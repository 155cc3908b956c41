import { describe, expect, it } from '@jest/globals';
import { jobIdAt } from './json-fields.js';

describe('the id of a job in an answer', () => {
  it.each(['a', 'job_1', '0190a6a0-7c8b:x.y', 'a'.repeat(200)])('is taken: %s', (id) => {
    expect(jobIdAt({ id }, 'id')).toBe(id);
  });

  it.each([
    '',
    '.',
    '..',
    '../x',
    'a/b',
    'a?b',
    'a%2e',
    'a b',
    'é',
    'a'.repeat(201),
    5,
    null,
    ['a'],
  ])('is not taken where it could lead out of its path, or is no text: %j', (id) => {
    expect(jobIdAt({ id }, 'id')).toBeUndefined();
  });
});
