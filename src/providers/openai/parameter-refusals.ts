import { LRUCache } from 'lru-cache';
import { ProviderError } from '../http/provider-error.js';
import type { OutputCapParameter } from '../ports/chat.port.js';
import { refusesName } from './refused-name.js';

/** The parameters without which, or under whose other name, an upstream is asked once more. */
type Parameter = 'stream_options' | OutputCapParameter;

const OTHER_NAME: Readonly<Record<OutputCapParameter, OutputCapParameter>> = {
  max_tokens: 'max_completion_tokens',
  max_completion_tokens: 'max_tokens',
};
const REFUSAL_STATUSES: readonly (number | undefined)[] = [400, 422];
const MAX_MODELS = 1_000;

/** The form of a request: how it names its cap, and whether it asks for the usage of a stream. */
export interface RequestForm {
  readonly outputCapParameter: string;
  readonly asksUsage: boolean;
}

/** What the upstream of one provider refuses by name. It is kept in memory, by the upstream's name of the model. */
export class ParameterRefusals {
  private readonly byModel = new LRUCache<string, ReadonlySet<Parameter>>({ max: MAX_MODELS });

  /**
   * Sends a request in the wanted form. When it is refused because of a parameter's name, it is sent once more, without
   * the parameter or with its other name: a request that is refused makes nothing, so nothing is paid twice. What helped
   * is remembered.
   */
  async ask<T>(
    model: string,
    wanted: RequestForm,
    send: (form: RequestForm) => Promise<T>,
  ): Promise<T> {
    let refused = this.byModel.get(model) ?? new Set();
    const tried = new Set<Parameter>();
    for (;;) {
      const form = formOf(wanted, refused);
      try {
        const answer = await send(form);
        if (tried.size > 0) this.byModel.set(model, refused);
        return answer;
      } catch (error) {
        const name = refusedBy(error, form);
        if (name === undefined || tried.has(name)) throw error;
        tried.add(name);
        if (isLength(name)) tried.add(OTHER_NAME[name]);
        refused = withRefused(refused, name);
      }
    }
  }
}

function formOf(wanted: RequestForm, refused: ReadonlySet<Parameter>): RequestForm {
  const { outputCapParameter: name } = wanted;
  return {
    outputCapParameter: isLength(name) && refused.has(name) ? OTHER_NAME[name] : name,
    asksUsage: wanted.asksUsage && !refused.has('stream_options'),
  };
}

function withRefused(refused: ReadonlySet<Parameter>, name: Parameter): ReadonlySet<Parameter> {
  const more = new Set(refused).add(name);
  if (isLength(name)) more.delete(OTHER_NAME[name]);
  return more;
}

/** The parameter of the form that the error refuses by its name; undefined for every other error. */
function refusedBy(error: unknown, form: RequestForm): Parameter | undefined {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return undefined;
  if (!REFUSAL_STATUSES.includes(error.upstreamStatus)) return undefined;
  if (form.asksUsage && refusesName(error, 'stream_options')) return 'stream_options';
  const { outputCapParameter: name } = form;
  return isLength(name) && refusesName(error, name) ? name : undefined;
}

function isLength(name: string): name is OutputCapParameter {
  return Object.hasOwn(OTHER_NAME, name);
}
