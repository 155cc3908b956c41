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
  it('are taken up to the limit of each provider, then refused', () => {
    const connections = connectionsOf(2);
    const places = [1, 2].map(() => connections.acquire([route('first')]));
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
    connections.acquire([route('second')]);
    places[0]?.release();
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
  });

  it('are given back once, however often the call says so', () => {
    const connections = connectionsOf(2);
    const place = connections.acquire([route('first')]);
    connections.acquire([route('first')]);
    place.release();
    place.release();
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('first')])).toThrow('All connections');
  });

  it('come from the next route when the first provider has none', () => {
    const connections = connectionsOf(1);
    connections.acquire(BOTH);
    const next = connections.acquire(BOTH);
    expect(next.moveTo('first')).toBe(false);
    expect(next.moveTo('second')).toBe(true);
    expect(() => connections.acquire(BOTH)).toThrow('All connections');
  });

  it('move with a call that fails over', () => {
    const connections = connectionsOf(1);
    const place = connections.acquire([route('first')]);
    expect(place.moveTo('second')).toBe(true);
    connections.acquire([route('first')]);
    expect(() => connections.acquire([route('second')])).toThrow('All connections');
  });
});
