import { LRUCache } from 'lru-cache';
import { ProviderError } from '../http/provider-error.js';
import type { OutputCapParameter } from '../ports/chat.port.js';
import { rejectsParameter } from './rejected-parameter-name.js';

/** The parameters that are left out or renamed when a request is sent a second time. */
type Parameter = 'stream_options' | OutputCapParameter;

const OTHER_NAME: Readonly<Record<OutputCapParameter, OutputCapParameter>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};
const REJECTION_STATUSES: readonly (number | undefined)[] = [400, 422];
const MAX_MODELS = 1_000;

/** Optional features of a request: the parameter name of its cap, and whether it requests the usage of a stream. */
export interface RequestForm {
  readonly outputCapParameter: string;
  readonly asksUsage: boolean;
}

/**
 * Remembers which parameters an upstream model of one provider rejects by name. Kept in memory, by the upstream's model
 * name.
 */
export class RejectedParameters {
  private readonly byModel = new LRUCache<string, ReadonlySet<Parameter>>({ max: MAX_MODELS });

  /**
   * Sends a request in the wanted form. If the upstream rejects a parameter by its name, the request is sent once more,
   * without the parameter or with its other name: a rejected request generates nothing, so nothing is paid twice. The
   * form that worked is remembered.
   */
  async send<T>(
    model: string,
    wanted: RequestForm,
    send: (form: RequestForm) => Promise<T>,
  ): Promise<T> {
    let rejected = this.byModel.get(model) ?? new Set();
    const tried = new Set<Parameter>();
    for (;;) {
      const form = formOf(wanted, rejected);
      try {
        const response = await send(form);
        if (tried.size > 0) this.byModel.set(model, rejected);
        return response;
      } catch (error) {
        const name = rejectedParameterOf(error, form);
        if (name === undefined || tried.has(name)) throw error;
        tried.add(name);
        if (isLength(name)) tried.add(OTHER_NAME[name]);
        rejected = withRejected(rejected, name);
      }
    }
  }
}

function formOf(wanted: RequestForm, rejected: ReadonlySet<Parameter>): RequestForm {
  const { outputCapParameter: name } = wanted;
  return {
    outputCapParameter: isLength(name) && rejected.has(name) ? OTHER_NAME[name] : name,
    asksUsage: wanted.asksUsage && !rejected.has('stream_options'),
  };
}

function withRejected(rejected: ReadonlySet<Parameter>, name: Parameter): ReadonlySet<Parameter> {
  const more = new Set(rejected).add(name);
  if (isLength(name)) more.delete(OTHER_NAME[name]);
  return more;
}

/** The parameter that the error rejects by its name; undefined for every other error. */
function rejectedParameterOf(error: unknown, form: RequestForm): Parameter | undefined {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return undefined;
  if (!REJECTION_STATUSES.includes(error.upstreamStatus)) return undefined;
  if (form.asksUsage && rejectsParameter(error, 'stream_options')) return 'stream_options';
  const { outputCapParameter: name } = form;
  return isLength(name) && rejectsParameter(error, name) ? name : undefined;
}

function isLength(name: string): name is OutputCapParameter {
  return Object.hasOwn(OTHER_NAME, name);
}
