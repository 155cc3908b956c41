import type { LoadedCatalog } from '../catalog/catalog-file.js';
import { ConfigError } from '../platform/config/load-config.js';
import type { Protocol } from '../providers/ports/protocol.js';
import { routeFault } from '../providers/routing/wire-protocols.js';

/**
 * Lets the adapter of each route judge the row: whether its protocol does the work, and whether it knows the name.
 * Without that, a model would be sold that no request can reach. A provider that is configured nowhere is no fault: its
 * models are not listed. Throws ConfigError that names row and field of each fault.
 * @param builtIn the protocols of the built-in providers, by id
 */
export function checkRoutes(catalog: LoadedCatalog, builtIn: ReadonlyMap<string, Protocol>): void {
  const own = catalog.providers.map(({ id, protocol }): [string, Protocol] => [id, protocol]);
  const protocols = new Map([...builtIn, ...own]);
  const problems = catalog.rows.flatMap((row) =>
    row.routes.flatMap(({ provider, upstreamModel }, index) => {
      const protocol = protocols.get(provider);
      const fault = protocol && routeFault(protocol, row.operation, upstreamModel);
      if (!fault) return [];
      return [`CATALOG_FILE: model ${row.id}: routes.${index}.${fault.field} ${fault.says}`];
    }),
  );
  if (problems.length > 0) throw new ConfigError(problems);
}
