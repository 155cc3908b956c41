import type { Shape } from './api.js';
import { count, usd } from './money.js';
import type { Moment } from './parts.js';
import { unitOf } from './price-sum.js';
import { When } from './time.js';

type Call = Pick<
  Shape<'ExecutionView'>,
  | 'status'
  | 'created_at'
  | 'completed_at'
  | 'held_microusd'
  | 'charged_microusd'
  | 'refunded_microusd'
  | 'error_code'
  | 'lines'
  | 'estimated'
>;

/** Hold, what happened between (`attempts`), measurement, settlement, and what was given back. */
export function callMoments(call: Call, attempts: readonly Moment[] = []): readonly Moment[] {
  const { held_microusd: held, refunded_microusd: refunded } = call;
  return [
    { title: `Held ${usd(held)}`, at: <When at={call.created_at} /> },
    ...attempts,
    ...(call.lines === null ? [] : [{ title: `Measured: ${measureOf(call)}` }]),
    endOf(call),
    ...(refunded === null ? [] : [{ title: `Given back: ${usd(refunded)}` }]),
  ];
}

function endOf(call: Call): Moment {
  const { held_microusd: held, charged_microusd: charged, error_code: code } = call;
  const at = <When at={call.completed_at} />;
  if (call.status === 'running') {
    return { title: 'Under way', tone: 'wait', detail: 'The money is held until it ends.' };
  }
  if (call.status === 'failed') {
    const detail = `The whole hold of ${usd(held)} was freed; nothing was charged.`;
    return { title: `Failed: ${code ?? 'no code'}`, tone: 'bad', at, detail };
  }
  return {
    title: `Settled: ${usd(charged ?? '0')} charged`,
    tone: 'good',
    at,
    detail: `${usd(BigInt(held) - BigInt(charged ?? 0))} of the hold was freed.`,
  };
}

const measureOf = ({ lines, estimated }: Call): string =>
  (lines ?? []).map((line) => `${count(line.quantity)} ${unitOf(line)}`).join(', ') +
  (estimated === true ? ', estimated' : '');
