import type { AttemptContext } from '../ports/attempt.js';
import type { ProbeAnswer, ProbePort } from '../ports/provider-ports.js';
import { ProviderError } from '../http/provider-error.js';
import type { ProviderHttp } from '../http/provider-http.js';

const MAX_RESPONSE_BYTES = 1024 * 1024;
/** No job has this id. */
const PATH = '/suno/v2/fetch?jobId=00000000-0000-0000-0000-000000000000';

/** Probes by asking for a job that does not exist: whoever says so has taken the key. */
export class TtapiProbe implements ProbePort {
  constructor(private readonly http: ProviderHttp) {}

  async probe({ signal }: Pick<AttemptContext, 'signal'>): Promise<ProbeAnswer> {
    try {
      return await this.http.requestJson(
        { method: 'GET', path: PATH, timeout: 'poll', context: { signal } },
        MAX_RESPONSE_BYTES,
        (_json, providerRequestId) => ({ models: null, providerRequestId }),
      );
    } catch (error) {
      const isAnswer =
        error instanceof ProviderError &&
        (error.kind === 'rejected' || error.kind === 'misconfigured');
      if (!isAnswer) throw error;
      return { models: null, providerRequestId: error.providerRequestId };
    }
  }
}
