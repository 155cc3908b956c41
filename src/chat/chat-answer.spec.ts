import { describe, expect, it } from '@jest/globals';
import { chunkOf, completionOf, headOf } from './chat-answer.js';

const HEAD = { id: 'c', created: 1, model: 'm' };

describe('what a provider sends in place of a field that clients read', () => {
  it.each([{}, { delta: null }, { delta: 'x' }, { delta: [] }, { delta: {}, finish_reason: 5 }])(
    'is an empty delta without a reason to end in the chunk of %j (CHAT-15, CHAT-16)',
    (choice) => {
      const { choices } = chunkOf(HEAD, [{ index: 'a', ...choice }]);
      expect(choices).toEqual([{ index: 0, delta: {}, finish_reason: null }]);
    },
  );

  it.each([{}, { message: null }, { message: 'x' }, { message: {}, finish_reason: {} }])(
    'is an empty message that ended by itself in the answer of %j (CHAT-02)',
    (choice) => {
      const { choices } = completionOf(HEAD, { choices: [{ index: -1, ...choice }] }, {});
      const message = { role: 'assistant', content: null };
      expect(choices).toEqual([{ index: 0, logprobs: null, message, finish_reason: 'stop' }]);
    },
  );

  it.each([undefined, null, '1795132800', 1_795_132_800_000, 1_795_132_800.5, -1, 0, 1e300])(
    'is our own time where created is %j (CONV-04)',
    (created) => {
      const own = { ...HEAD, created: 1_795_000_000 };
      expect(headOf({ id: 'theirs', created }, own)).toEqual({ ...own, id: 'theirs' });
    },
  );

  it('stays as it is where it is right', () => {
    const choice = { index: 1, delta: { content: 'x' }, finish_reason: 'stop', logprobs: null };
    expect(chunkOf(HEAD, [choice]).choices).toEqual([choice]);
    expect(headOf({ created: 1_700_000_000 }, HEAD).created).toBe(1_700_000_000);
  });
});
