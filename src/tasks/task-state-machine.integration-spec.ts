import { describe, expect, it } from '@jest/globals';
import type { TaskStatus } from './task.js';
import { type Transition, TRANSITIONS } from './task-state-machine.js';
import { TASK_STATUSES } from './task.view.js';

const transitions: readonly Transition[] = Object.values(TRANSITIONS);
const leaving = (status: TaskStatus) => transitions.filter(({ from }) => from.includes(status));

/** Every path from a state, as a list of transitions. */
function pathsFrom(status: TaskStatus): Transition[][] {
  const next = leaving(status);
  return next.flatMap((step) => {
    const onward = pathsFrom(step.to);
    return onward.length === 0 ? [[step]] : onward.map((path) => [step, ...path]);
  });
}

describe('the table of task transitions', () => {
  it('reaches every state from queued', () => {
    const reached = new Set<TaskStatus>(['queued']);
    for (const status of reached) for (const { to } of leaving(status)) reached.add(to);
    expect([...reached].sort()).toEqual([...TASK_STATUSES].sort());
  });

  it('has no transition from succeeded', () => {
    expect(leaving('succeeded')).toEqual([]);
  });

  it.each(['failed', 'expired'] as const)(
    'has no transition from %s except collection by an operator',
    (status) => {
      expect(leaving(status)).toEqual([TRANSITIONS.deliveredLate]);
    },
  );

  it('has transitions from reconciliation_required only for operators and reversals', () => {
    expect(leaving('reconciliation_required')).toEqual([
      TRANSITIONS.resolvedAsSucceeded,
      TRANSITIONS.resolvedAsFailed,
      TRANSITIONS.undone,
    ]);
  });

  it('has no loop and resolves the hold exactly once on every path to its end', () => {
    for (const path of pathsFrom('queued')) {
      const late = path.at(-1) === TRANSITIONS.deliveredLate ? 1 : 0;
      const verbs = path.map(({ money }) => money).filter((money) => money !== 'keep');
      expect(verbs).toHaveLength(1 + late);
      expect(path.at(-1)?.money).not.toBe('keep');
    }
  });

  it('settles only on success, anew if the hold was released', () => {
    for (const { to, money } of transitions) {
      expect(['settle', 'settle_anew'].includes(money)).toBe(to === 'succeeded');
    }
    for (const path of pathsFrom('queued')) {
      const index = path.findIndex(({ money }) => money === 'settle_anew');
      if (index > 0) expect(path.slice(0, index).at(-1)?.money).toBe('release');
    }
  });

  it('passes through processing on every path to success without an operator', () => {
    for (const path of pathsFrom('queued')) {
      if (path.at(-1) === TRANSITIONS.succeeded) expect(path[0]).toBe(TRANSITIONS.accepted);
    }
  });
});
