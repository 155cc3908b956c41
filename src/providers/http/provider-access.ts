import type { Clock } from '../../common/time/clock.js';
import type { EndpointChange } from './endpoint-change.js';
import type { HttpTransport } from './http-transport.js';

/** What an adapter needs to reach one provider. */
export interface ProviderAccess {
  /** The provider's id in the configuration. */
  readonly id: string;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** What the operator's upstream does in its own way. */
  readonly endpointChanges?: readonly EndpointChange[];
  readonly transport: HttpTransport;
  readonly clock: Clock;
}
