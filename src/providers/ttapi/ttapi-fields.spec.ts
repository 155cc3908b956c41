import { describe, expect, it } from '@jest/globals';
import { FIELD_ROWS } from '../../../test/support/song-models.js';
import { SONG_FIELDS, withKnownNames } from './ttapi-fields.js';

/** Fields that name tasks never reach a provider under their public names. */
const NAMES_TASKS = /^source_|_task_id$/;

describe('SONG_FIELDS', () => {
  it('has every field of every song model but those that name tasks', () => {
    const fields = FIELD_ROWS.map(({ field }) => field).filter(
      (field) => field !== '*' && !NAMES_TASKS.test(field),
    );
    expect([...SONG_FIELDS].sort()).toEqual([...new Set(fields)].sort());
  });
});

describe('withKnownNames', () => {
  it('renames fields at every depth, and nothing else', () => {
    const answer = { state: 'SUCCESS', payload: { ticket: 'j-1', list: [{ ticket: 2, x: null }] } };
    expect(withKnownNames(answer, { status: 'state', data: 'payload', job_id: 'ticket' })).toEqual({
      status: 'SUCCESS',
      data: { job_id: 'j-1', list: [{ job_id: 2, x: null }] },
    });
  });

  it('prefers what the operator named to a field that has our name by chance', () => {
    for (const answer of [
      { title: 'of the album', song_title: 'of the song' },
      { song_title: 'of the song', title: 'of the album' },
    ]) {
      expect(withKnownNames(answer, { title: 'song_title' })).toEqual({ title: 'of the song' });
    }
  });

  it('returns the answer itself where no name differs', () => {
    const answer = { status: 'SUCCESS' };
    expect(withKnownNames(answer, undefined)).toBe(answer);
  });
});
