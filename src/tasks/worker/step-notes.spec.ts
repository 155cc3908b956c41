import { describe, expect, it } from '@jest/globals';
import { ProviderError } from '../../providers/http/provider-error.js';
import { MAX_KEPT_ATTEMPTS } from '../../providers/routing/attempt-log.js';
import type { JsonObject } from '../../common/json-object.js';
import type { Task } from '../task.js';
import { splitStepState, StepNotes, type ProviderStep } from './step-notes.js';

const T0 = 1_000_000;
const taskWith = (stepState: JsonObject) => ({ stepState }) as unknown as Task;
const route = { provider: 'p', upstreamModel: 'm', startedAtMs: T0 + 50, durationMs: 10 };
const success = { ...route, outcome: 'success' } as const;
const refusal = {
  ...route,
  outcome: 'rate_limited',
  error: new ProviderError('rate_limited', { provider: 'p', sent: true, upstreamStatus: 429 }),
} as const;
const notesOf = (step: ProviderStep = 'submit') => new StepNotes(step, T0);

describe('the notes of a step', () => {
  it('add nothing to a step that succeeds at once', () => {
    const notes = notesOf();
    notes.onAttemptEnd(success);
    const report = { state: 'accepted', jobId: 'j' };
    expect(notes.addedTo(report, taskWith({ music: 1 }))).toBe(report);
    expect(notes.stepStateOf(taskWith({ music: 1 }))).toBeUndefined();
  });

  it('keep a failed attempt beside the state of the kind, and what follows it', () => {
    const notes = notesOf();
    notes.onAttemptEnd(refusal);
    const deferred = notes.stepStateOf(taskWith({ music: 1 }));
    expect(deferred).toMatchObject({
      music: 1,
      providerFigures: {
        attempts: [{ step: 'submit', outcome: 'rate_limited', status: 429, startMs: 50 }],
      },
    });
    const next = notesOf('poll');
    next.onAttemptEnd(success);
    const ended = next.addedTo({ state: 'succeeded' }, taskWith(deferred ?? {}));
    expect(ended).toMatchObject({
      stepState: {
        music: 1,
        providerFigures: { attempts: [{ step: 'submit' }, { step: 'poll', outcome: 'success' }] },
      },
    });
    // Version 0.1.0 sends what stands beside the figures to the provider of songs.
    expect(Object.keys(deferred ?? {})).toEqual(['music', 'providerFigures']);
  });

  it('keep figures and attempts when a report brings a new state of the kind', () => {
    const earlier = notesOf();
    earlier.onFigures({ quota: 2 });
    earlier.onAttemptEnd(refusal);
    const task = taskWith(earlier.stepStateOf(taskWith({})) ?? {});
    const report = { state: 'step', stepState: { music: 2 } };
    expect(notesOf().addedTo(report, task).stepState).toMatchObject({
      music: 2,
      providerFigures: { quota: 2, attempts: [{ outcome: 'rate_limited' }] },
    });
  });

  it('number the figures of a preparatory step by the state of the kind alone', () => {
    const notes = notesOf();
    notes.onFigures({ quota: 1 });
    const task = taskWith({ providerFigures: { cost: 1, attempts: [{}] } });
    expect(notes.addedTo({ state: 'step', stepState: { music: 1 } }, task).stepState).toMatchObject(
      { providerFigures: { cost: 1, 'step1.quota': 1 } },
    );
  });

  it('are bounded over all steps', () => {
    let task = taskWith({});
    for (let step = 0; step < 40; step++) {
      const notes = notesOf();
      notes.onAttemptEnd({ ...refusal, startedAtMs: T0 + step });
      task = taskWith(notes.stepStateOf(task) ?? {});
    }
    const { attempts } = splitStepState(task);
    expect(attempts).toHaveLength(MAX_KEPT_ATTEMPTS);
    expect(attempts.at(-1)).toMatchObject({ startMs: 39 });
  });

  it('keep the submission that may have begun the work through later put-offs, and not as a figure', () => {
    const open = notesOf();
    open.onAttemptEnd(refusal);
    open.keepOpenSubmission('p');
    let task = taskWith(open.stepStateOf(taskWith({ music: 1 })) ?? {});
    for (let step = 0; step < 40; step++) {
      const notes = notesOf();
      notes.onAttemptEnd({ ...refusal, startedAtMs: T0 + 1_000 + step });
      task = taskWith(notes.stepStateOf(task) ?? {});
    }
    const { openSubmission, figures, rest } = splitStepState(task);
    expect(openSubmission).toEqual({ provider: 'p', startMs: 50 });
    expect([figures, rest]).toEqual([undefined, { music: 1 }]);
  });

  it('know when the last submission was sent, however many look-ups take the places of attempts', () => {
    let task = { stepState: {}, provider: 'p' };
    for (let step = 0; step < 40; step++) {
      const notes = notesOf();
      notes.onAttemptEnd({ ...refusal, startedAtMs: T0 + step });
      task = { ...task, stepState: notes.stepStateOf(task) ?? {} };
    }
    for (let lookUp = 0; lookUp < 3; lookUp++) {
      const notes = notesOf();
      expect(notes.openedMs(task)).toBe(39);
      notes.beginLookUp();
      notes.onAttemptEnd({ ...refusal, startedAtMs: T0 + 5_000 });
      task = { ...task, stepState: notes.stepStateOf(task) ?? {} };
    }
  });
});
