/**
 * What an operator or a key did, by the name of the command that does it, for each call that is recorded. Records made before the
 * calls had these names hold the method and path.
 */
const ACT_OF_CALL: ReadonlyMap<string, string> = new Map([
  ['POST /admin/accounts', 'account:create'],
  ['PATCH /admin/accounts/:id', 'account:update'],
  ['POST /admin/accounts/:id/credits', 'account:credit'],
  ['POST /admin/accounts/:id/keys', 'key:create'],
  ['POST /v1/keys', 'key:create'],
  ['PATCH /v1/keys/:id', 'key:update'],
  ['DELETE /v1/keys/:id', 'key:revoke'],
  ['POST /admin/accounts/:id/webhook-endpoints', 'webhook-endpoint:create'],
  ['DELETE /admin/accounts/:id/webhook-endpoints/:endpoint_id', 'webhook-endpoint:delete'],
  ['POST /admin/accounts/:id/webhook-endpoints/:endpoint_id/test', 'webhook-endpoint:test'],
  ['POST /v1/webhook-endpoints', 'webhook-endpoint:create'],
  ['DELETE /v1/webhook-endpoints/:id', 'webhook-endpoint:delete'],
  ['POST /v1/webhook-endpoints/:id/test', 'webhook-endpoint:test'],
  ['POST /v1/webhook-deliveries/:id/redeliver', 'delivery:redeliver'],
  ['PATCH /admin/keys/:id', 'key:update'],
  ['DELETE /admin/keys/:id', 'key:revoke'],
  ['POST /admin/keys/:id/rotate', 'key:rotate'],
  ['POST /admin/price-books', 'price-book:create'],
  ['PUT /admin/price-books/:id', 'price-book:replace'],
  ['DELETE /admin/price-books/:id', 'price-book:delete'],
  ['POST /admin/price-books/:id/what-if', 'price-book:what-if'],
  ['POST /admin/catalog/check', 'catalog:check'],
  ['POST /admin/providers/:provider/pause', 'route:pause'],
  ['DELETE /admin/providers/:provider/pause', 'route:resume'],
  ['POST /admin/providers/:provider/probe', 'route:probe'],
  ['POST /admin/providers/:provider/:route/pause', 'route:pause'],
  ['DELETE /admin/providers/:provider/:route/pause', 'route:resume'],
  ['POST /admin/providers/:provider/:route/probe', 'route:probe'],
  ['POST /admin/accounts/:id/portal-links', 'account:portal-link'],
  ['DELETE /admin/sessions/:id', 'session:end'],
  ['POST /admin/executions/:id/refund', 'execution:refund'],
  ['POST /admin/tasks/:id/content-link', 'task:content-link'],
  ['POST /admin/tasks/:id/refund', 'task:refund'],
  ['POST /admin/tasks/:id/resolve', 'task:resolve'],
  ['POST /admin/webhook-deliveries/:id/redeliver', 'delivery:redeliver'],
  ['POST /admin/webhook-deliveries/redeliver', 'delivery:redeliver-failed'],
]);

/** The act of a call, such as `account:credit` for `POST /admin/accounts/:id/credits`; other text as it is. */
export const actOf = (call: string): string => ACT_OF_CALL.get(call) ?? call;

/** Every name under which the act may have been recorded. */
export function namesOf(act: string): string[] {
  return [act, ...[...ACT_OF_CALL].flatMap(([call, name]) => (name === act ? [call] : []))];
}
