import { Inject, Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/config/gateway-config.js';
import { Scheduler } from '../platform/scheduler/scheduler.js';
import { Catalog } from './catalog.js';
import type { ModelRow } from './model-row.js';
import { BUILT_IN_MODELS } from './models/built-in.models.js';
import { viewPrice } from './price.view.js';

const JOB = 'catalog-changes';
/** How soon a catalog that was read anew is recorded, and how often that is tried again while the database is away. */
const INTERVAL_MS = 5_000;
const NOTE = 'SELECT catalog_note_changes($1, $2, $3, $4)';

/** Records the prices by which this process sells, where they are not the last ones that any process recorded. */
@Injectable()
export class CatalogChangeRecorder {
  private recorded: readonly ModelRow[] | undefined;

  constructor(
    private readonly catalog: Catalog,
    private readonly dataSource: DataSource,
    private readonly scheduler: Scheduler,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'catalogFile'>,
  ) {}

  /** Records the catalog of now, and from now on each one that replaces it. Called by a gateway that serves, not by a command. */
  start(): void {
    const tick = () => this.tick();
    this.scheduler.start({ name: JOB, intervalMs: INTERVAL_MS, tick, servesOwnCalls: true });
    this.scheduler.runSoon(JOB, 0);
  }

  /** Records what changed since the last tick. Throws if the database cannot be reached; the next tick tries again. */
  async tick(): Promise<void> {
    const rows = this.catalog.enabled();
    if (rows === this.recorded) return;
    const file = this.config.catalogFile ?? null;
    await this.dataSource.query(NOTE, [
      rows.map(({ id }) => id),
      rows.map((row) => JSON.stringify(viewPrice(row))),
      rows.map((row) => (BUILT_IN_MODELS.includes(row) ? null : file)),
      file,
    ]);
    this.recorded = rows;
  }
}
