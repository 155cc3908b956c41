import { describe, expect, it } from '@jest/globals';
import { ProviderConnections } from './provider-connections.js';

const route = (provider: string) => ({ provider, upstreamModel: 'any' });
const BOTH = [route('first'), route('second')];

function connectionsOf(providerMaxConnections: number): ProviderConnections {
  return new ProviderConnections({ nameOf: (provider) => provider }, { providerMaxConnections });
}

describe('connections to providers', () => {
  it('are taken up to the limit of each provider, then refused', () => {
    const connections = connectionsOf(2);
    const places = [1, 2].map(() => connections.take([route('first')]));
    expect(() => connections.take([route('first')])).toThrow('All connections');
    connections.take([route('second')]);
    places[0]?.give();
    connections.take([route('first')]);
    expect(() => connections.take([route('first')])).toThrow('All connections');
  });

  it('are given back once, however often the call says so', () => {
    const connections = connectionsOf(2);
    const place = connections.take([route('first')]);
    connections.take([route('first')]);
    place.give();
    place.give();
    connections.take([route('first')]);
    expect(() => connections.take([route('first')])).toThrow('All connections');
  });

  it('come from the next route when the first provider has none', () => {
    const connections = connectionsOf(1);
    connections.take(BOTH);
    const next = connections.take(BOTH);
    expect(next.moveTo('first')).toBe(false);
    expect(next.moveTo('second')).toBe(true);
    expect(() => connections.take(BOTH)).toThrow('All connections');
  });

  it('move with a call that fails over', () => {
    const connections = connectionsOf(1);
    const place = connections.take([route('first')]);
    expect(place.moveTo('second')).toBe(true);
    connections.take([route('first')]);
    expect(() => connections.take([route('second')])).toThrow('All connections');
  });
});
