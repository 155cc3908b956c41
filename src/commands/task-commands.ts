import { ResolveTaskBody } from '../admin/dto/resolve-task.body.js';
import type { CollectableTask } from '../admin/admin-tasks.service.js';
import { formatMicroUsd } from '../common/money/micro-usd.js';
import { moneyText } from '../common/money/usd-text.js';
import { validatorOf } from '../common/validation/compiled-validator.js';
import { AdminTasksQuery } from '../tasks/dto/tasks.query.js';
import type { TaskCommandName } from './command-declarations.js';
import { notedEntry } from './command-answers.js';
import type { OperatorCommand, TaskOperators } from './operator-command.js';
import { resolutionQuestion, taskRefundQuestion } from './operator-questions.js';
import type { Options, Question } from './operator-request.js';
import { amountOf, given, jsonOf, misused, refundBodyOf, sent, timesOf } from './parse-options.js';

/** Tasks that `--all` collects at most. */
const MAX_COLLECTED = 1_000;
const DEFAULT_COLLECTED = 100;
const ALL_USAGE =
  'task:resolve --all --evidence succeeded --outcome collect [--limit N] collects the tasks whose providers were seen to succeed; it takes no TASK and nothing else.';

function resolutionOf(words: readonly string[], options: Options): ResolveTaskBody {
  return validatorOf(ResolveTaskBody).parse({
    outcome: words[1],
    charged_microusd: amountOf(options, 'charge', 'charge-usd'),
    result: jsonOf(given(options, 'result')),
  });
}

/** How many tasks `--all` collects; undefined without it. Throws 400 where the rest does not belong to it. */
function limitOfAll(words: readonly string[], options: Options): number | undefined {
  const { all, evidence, outcome, limit = String(DEFAULT_COLLECTED), yes, ...rest } = options;
  if (all !== true) {
    const stray = [evidence, outcome, options.limit].some((option) => option !== undefined);
    if (!stray && words.length > 0) return undefined;
    throw misused(`Name a TASK, or use --all: ${ALL_USAGE}`);
  }
  const others = [...words, ...Object.values(rest)].filter((value) => value !== undefined);
  if (others.length > 0 || evidence !== 'succeeded' || outcome !== 'collect') {
    throw misused(ALL_USAGE);
  }
  const count = Number(limit);
  if (Number.isInteger(count) && count >= 1 && count <= MAX_COLLECTED) return count;
  throw misused(`--limit must be a whole number, 1 to ${MAX_COLLECTED}.`);
}

function sumOf(tasks: readonly CollectableTask[]): bigint {
  return tasks.reduce((sum, { charge_microusd: charge }) => sum + BigInt(charge), 0n);
}

function listOf(data: readonly CollectableTask[]) {
  return {
    object: 'list',
    data,
    has_more: false,
    next_cursor: null,
    charge_microusd: formatMicroUsd(sumOf(data)),
  };
}

async function questionOfAll({ tasks }: TaskOperators, limit: number): Promise<Question> {
  const found = await tasks.collectable(limit);
  const asks = `This fetches the results of ${found.length} tasks from their providers, delivers them and charges ${moneyText(sumOf(found))} in all. A task whose result cannot be fetched stays as it is.`;
  return { asks, plan: listOf(found) };
}

async function collectAll({ tasks }: TaskOperators, limit: number): Promise<object> {
  const done = await tasks.collectAll(limit);
  const collected = done.filter(({ outcome }) => outcome === 'collected');
  return {
    ...listOf(done),
    charge_microusd: formatMicroUsd(sumOf(collected)),
    not_collected: done.length - collected.length,
  };
}

/** The commands about tasks, by their names. */
export const TASK_COMMANDS: Readonly<Record<TaskCommandName, OperatorCommand<TaskOperators>>> = {
  tasks: {
    run: ({ tasks }, _words, options) =>
      tasks.list(sent(AdminTasksQuery, options, timesOf(options))),
  },
  task: { run: ({ tasks }, [id = '']) => tasks.get(id) },
  'task:content-link': {
    // It changes nothing, but whoever sees what customers made is recorded.
    changes: true,
    run: ({ tasks }, [id = '']) => tasks.contentLink(id),
  },
  'task:resolve': {
    changes: true,
    question: async (operators, words, options) => {
      const limit = limitOfAll(words, options);
      if (limit !== undefined) return questionOfAll(operators, limit);
      return resolutionQuestion(operators, words[0] ?? '', resolutionOf(words, options));
    },
    run: (operators, words, options) => {
      const limit = limitOfAll(words, options);
      if (limit !== undefined) return collectAll(operators, limit);
      return operators.tasks.resolve(words[0] ?? '', resolutionOf(words, options));
    },
  },
  'task:refund': {
    changes: true,
    question: taskRefundQuestion,
    run: async ({ tasks }, [id = ''], options) => {
      const key = given(options, 'idempotency-key');
      return notedEntry(await tasks.refund(id, refundBodyOf(options), key));
    },
  },
};
