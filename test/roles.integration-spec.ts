import { describe, expect, it } from '@jest/globals';
import { AdminGuard } from '../src/admin/admin.guard.js';
import { MOVES_MONEY, NEEDED_ROLE, type Role, OPERATOR_ROLES } from '../src/auth/operators/role.js';
import { appRoutes } from './support/app-routes.js';

const MONEY = [
  'DELETE /admin/price-books/:id',
  'PATCH /admin/accounts/:id',
  'POST /admin/accounts/:id/credits',
  'POST /admin/executions/:id/refund',
  'POST /admin/price-books',
  'POST /admin/tasks/:id/refund',
  'POST /admin/tasks/:id/resolve',
  'PUT /admin/price-books/:id',
];

const adminRoutes = async () =>
  (await appRoutes()).filter(({ name }) => / \/admin(?:\/|$)/.test(name));

describe('every endpoint below /admin', () => {
  it('names the role that it needs, and has the guard that asks for it', async () => {
    const routes = await adminRoutes();
    expect(routes.length).toBeGreaterThan(40);
    const open = routes.filter(
      ({ told, guards }) =>
        !OPERATOR_ROLES.includes(told(NEEDED_ROLE) as Role) || !guards.includes(AdminGuard),
    );
    expect(open.map(({ name }) => name)).toEqual([]);
  });

  it('changes nothing in the role of a viewer', async () => {
    const routes = await adminRoutes();
    const ofViewers = routes.filter(({ told }) => told(NEEDED_ROLE) === 'viewer');
    expect(ofViewers.filter(({ name }) => !name.startsWith('GET '))).toEqual([]);
  });

  it('asks for a fresh proof where money moves', async () => {
    const routes = await adminRoutes();
    const money = routes.filter(({ told }) => told(MOVES_MONEY) === true);
    expect(money.map(({ name }) => name).sort()).toEqual(MONEY);
    expect(
      money.filter(({ told }) => ['viewer', 'support'].includes(told(NEEDED_ROLE) as Role)),
    ).toEqual([]);
  });
});
