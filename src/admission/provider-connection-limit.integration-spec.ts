import { describe, expect, it } from '@jest/globals';
import { ProviderConnectionLimit } from './provider-connection-limit.js';

const route = (provider: string) => ({ provider, upstreamModel: 'any' });
const BOTH = [route('first'), route('second')];

function connectionsOf(providerMaxConnections: number): ProviderConnectionLimit {
  return new ProviderConnectionLimit(
    { nameOf: (provider) => provider },
    { providerMaxConnections },
  );
}

describe('connections to providers', () => {
  it('are acquired up to the limit of each provider, then rejected', () => {
    const connections = connectionsOf(2);
    const leases = [1, 2].map(() => connections.acquire([route('first')]));
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
    connections.acquire([route('second')]);
    leases[0]?.release();
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
  });

  it('are released once, however often the call releases them', () => {
    const connections = connectionsOf(2);
    const lease = connections.acquire([route('first')]);
    connections.acquire([route('first')]);
    lease.release();
    lease.release();
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
  });

  it('are acquired at the provider of the next route if the first has none free', () => {
    const connections = connectionsOf(1);
    connections.acquire(BOTH);
    const next = connections.acquire(BOTH);
    expect(next.moveTo('first')).toBe(false);
    expect(next.moveTo('second')).toBe(true);
    expect(() => connections.acquire(BOTH)).toThrow('All connections');
  });

  it('move to the next provider when a call fails over', () => {
    const connections = connectionsOf(1);
    const lease = connections.acquire([route('first')]);
    expect(lease.moveTo('second')).toBe(true);
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('second')])).toThrow('All connections');
  });
});
