import { describe, expect, it } from '@jest/globals';
import { isFailureWord, isSuccessWord, jobFailure, unfinishedJob } from './job-state.js';

const ID = 'req-1';

describe('the state of a job', () => {
  it.each([
    ['failed', null],
    ['FAILED', null],
    ['error', null],
    ['Fail', null],
    ['rejected', 'rejected'],
    ['content_filtered', 'content_filtered'],
    ['Content-Filtered', 'content_filtered'],
    ['cancelled', 'cancelled'],
    ['CANCELED', 'canceled'],
    ['expired', 'expired'],
    ['timeout', 'timeout'],
    ['timed out', 'timed_out'],
    ['SENSITIVE_WORD_ERROR', 'sensitive_word_error'],
  ])('%s is a failure, whose code is %s where there is no other', (word, code) => {
    expect(unfinishedJob(word, {}, ID, 5)).toEqual({
      state: 'failed',
      failure: { code, message: null, requestId: ID },
    });
  });

  it.each([
    'queued',
    'in_progress',
    'PENDING_QUEUE',
    'ON_QUEUE',
    'dubbing',
    'Preparing',
    'unknown',
    'In-Progress',
    'inProgress',
  ])('%s is pending', (word) => {
    expect(unfinishedJob(word, {}, ID, 5)).toEqual({ state: 'pending', progress: 5 });
  });

  it.each([
    'SUCCESS',
    'succeeded',
    'Succeed',
    'COMPLETED',
    'complete',
    'ready',
    'Done',
    'finished',
    ' Successful ',
  ])('%s is a success and no failure', (word) => {
    expect([isSuccessWord(word), isFailureWord(word)]).toEqual([true, false]);
  });

  it.each(['in_progress', 'not_started', 'unsuccessful', 'simmering', 'almost done', ''])(
    '%s is no success',
    (word) => {
      expect(isSuccessWord(word)).toBe(false);
    },
  );

  it('is pending for an unknown word, which is reported shortened and printable', () => {
    expect(unfinishedJob('simmering', {}, ID, null)).toEqual({
      state: 'pending',
      progress: null,
      unknownState: 'simmering',
    });
    const odd = unfinishedJob(`\u0007${'x'.repeat(100)}`, {}, ID, null);
    expect(odd).toMatchObject({ unknownState: `?${'x'.repeat(63)}` });
  });
});

describe('the reason of a failed job', () => {
  it.each([
    [{ error: { code: 'moderation_blocked', message: 'No.' } }, 'moderation_blocked', 'No.'],
    [{ error: { code: null, type: 'safety', message: 'No.' } }, 'safety', 'No.'],
    [{ error: { code: 400, message: 'No.', status: 'INVALID' } }, '400', 'No.'],
    [{ error: 'The speech could not be separated.' }, null, 'The speech could not be separated.'],
    [{ error: 'content_policy_violation' }, 'content_policy_violation', 'content_policy_violation'],
    [{ error: null, message: 'Sensitive words.' }, null, 'Sensitive words.'],
    [{ failure: 'No.', failureCode: 'SAFETY.INPUT' }, 'SAFETY.INPUT', 'No.'],
    [{ failure_reason: 'No.' }, null, 'No.'],
    [{ data: { error_code: 'x1', failReason: 'No.' } }, 'x1', 'No.'],
    [{ detail: 'No.' }, null, 'No.'],
    [{ message: '', data: [] }, null, null],
  ])('is read from %j', (answer, code, message) => {
    expect(jobFailure(answer, ID)).toEqual({ code, message, requestId: ID });
  });
});
