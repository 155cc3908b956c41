import { expect, it } from '@jest/globals';
import { KEY_COMMANDS } from './key-commands.js';
import type { Operators } from './operator-command.js';

it.each([
  [{ 'spend-limit-usd': '5' }, 'spend_limit_microusd'],
  [{ 'spend-limit-microusd': '5' }, 'spend-limit-microusd'],
  [{ name: 'ci' }, 'name'],
])('key:update refuses to set %j and clear %s at once', async (options, clear) => {
  const update = KEY_COMMANDS['key:update'].run({} as Operators, ['key_1'], { ...options, clear });
  await expect(update).rejects.toThrow(/^Set \w+ or clear it, not both\.$/);
});
