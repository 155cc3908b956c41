import { describe, expect, it } from '@jest/globals';
import { PROTOCOL_NAMES, routeFault, BUILT_IN_PROVIDERS } from '../../providers/providers.js';
import { BUILT_IN_MODELS } from './built-in.models.js';
import { SANDBOX_MODELS, withSandboxModels } from './sandbox.models.js';

const CATALOG = { rows: BUILT_IN_MODELS, providers: [] };
const EVERY_PROVIDER = BUILT_IN_PROVIDERS.map(({ id }) => id);
const added = (sandboxed: readonly string[], catalog = CATALOG) =>
  withSandboxModels(catalog, sandboxed)
    .rows.filter((row) => SANDBOX_MODELS.includes(row))
    .map(({ id }) => id);

describe('the models of the sandbox', () => {
  it('are there where the sandbox replaces their provider, and nowhere else', () => {
    expect(added(EVERY_PROVIDER)).toEqual(SANDBOX_MODELS.map(({ id }) => id));
    expect(added([])).toEqual([]);
    expect(added(EVERY_PROVIDER.filter((id) => id !== 'openai'))).not.toContain('gen-think');
    expect(withSandboxModels(CATALOG, [])).toBe(CATALOG);
  });

  it('give way to a model or an alias of the overlay', () => {
    const [first, ...others] = BUILT_IN_MODELS;
    const named = { ...CATALOG, rows: [{ ...first!, aliases: ['gen-think'] }, ...others] };
    expect(added(EVERY_PROVIDER, named)).not.toContain('gen-think');
  });

  it('have routes that their adapters take', () => {
    const protocols = new Map(BUILT_IN_PROVIDERS.map(({ id, protocol }) => [id, protocol]));
    for (const { operation, routes } of SANDBOX_MODELS) {
      for (const route of routes) {
        const protocol = protocols.get(route.provider)!;
        expect(PROTOCOL_NAMES).toContain(protocol);
        expect(routeFault(protocol, operation, route)).toBeUndefined();
      }
    }
  });
});
