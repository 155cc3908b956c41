import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DataSource } from 'typeorm';
import type { Answer } from '../../../support/http-answer.js';
import { overlay } from '../../../support/overlay-file.js';
import { PlayedVendor } from './played-vendor.js';
import type { PlayedWire } from './played-wire.js';
import { PLAYED_WIRES } from './played-wires.js';

/** What the figures of vendors mean that tell what a job cost. */
const PROVIDERS = [
  {
    id: 'kling',
    reported_cost: {
      ...{ figure: 'final_unit_deduction', unit: 'unit' },
      micro_usd_per_million_units: 140_000_000_000,
    },
  },
  { id: 'xai-video', reported_cost: { figure: 'usage.cost_in_usd_ticks', unit: 'usd' } },
];
const SHIPPED = new URL('../../../../vendors/', import.meta.url);

/** The price of a video of the vendor, in micro-USD; odd, and another for each. */
export const videoPriceOf = (wire: PlayedWire): bigint =>
  310_007n + BigInt(PLAYED_WIRES.indexOf(wire));

/** A gateway that sells a video of each vendor, wherever it runs. */
export interface VendorGateway {
  readonly url: string;
  readonly dataSource: DataSource;
  account(credit: bigint): Promise<{ readonly headers: Record<string, string> }>;
  /** An operator's call below /admin. */
  operate(path: string, body: object): Promise<Answer>;
}

/** Vendors, by default all, each played by servers of its own. */
export const startVendors = (
  wires: readonly PlayedWire[] = PLAYED_WIRES,
): Promise<PlayedVendor[]> => Promise.all(wires.map((wire) => PlayedVendor.start(wire)));

/** Settings with the shipped files, whose hosts alone are those of the played vendors, and with a model of each. */
export function settingsOf(vendors: readonly PlayedVendor[]): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'shim-played-'));
  for (const { wire, url, filesUrl } of vendors) {
    const shipped = readFileSync(new URL(`${wire.id}.json`, SHIPPED), 'utf8');
    const file = JSON.parse(shipped) as { base_url: string; origins?: string[] };
    file.base_url = url + new URL(file.base_url).pathname.replace(/\/$/, '');
    if (file.origins) file.origins = [filesUrl];
    writeFileSync(join(folder, `${wire.id}.json`), JSON.stringify(file));
  }
  const models = vendors.map(({ wire }) => ({
    id: `vid-${wire.id}`,
    operation: 'video',
    routes: [{ provider: wire.id, upstream_model: wire.model }],
    limits: {
      max_image_urls: 0,
      ...(wire.asked && { aspect_ratios: [wire.asked.aspect_ratio] }),
    },
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(videoPriceOf(wire)) }] },
  }));
  const keys = vendors.map(({ wire }) => [wire.keyVariable, wire.key]);
  return {
    TASK_TICK_MS: '50',
    TASK_POLL_INTERVAL_MS: '50',
    ...(Object.fromEntries(keys) as NodeJS.ProcessEnv),
    SANDBOX: 'off',
    VENDORS_DIR: folder,
    CATALOG_FILE: overlay({ providers: PROVIDERS, models }),
    EGRESS_ALLOW: '127.0.0.1',
  };
}
