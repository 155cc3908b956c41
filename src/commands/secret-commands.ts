import type { OperatorCommand } from './operator-command.js';
import { forgettingQuestion } from './operator-questions.js';

const MAY_GO =
  'Nothing is sealed with an older key. Take the older keys out of SECRET_KEY, once every process of the gateway was started with this list and this command says so again.';
const MUST_STAY =
  'Something is still sealed with an older key: it must stay in SECRET_KEY. A process with the former list may seal with it: start all with this list, then run this command again.';

/** The commands about what is sealed with SECRET_KEY. */
export const SECRET_COMMANDS = {
  'secret:rotate': {
    changes: true,
    run: async ({ sealed }) => {
      const { sealedAnew, left, unreadable } = await sealed.rotate();
      const advice = left === 0 ? MAY_GO : MUST_STAY;
      return { sealed_anew: sealedAnew, sealed_with_older_keys: left, unreadable, advice };
    },
  },
  'secret:forget': {
    changes: true,
    question: forgettingQuestion,
    run: async ({ sealed }) => ({ dropped: await sealed.forget() }),
  },
} as const satisfies Readonly<Record<string, OperatorCommand>>;
