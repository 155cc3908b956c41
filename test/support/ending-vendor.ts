import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startTestGateway, type TestGateway } from './gateway.js';
import { overlay } from './overlay-file.js';

/** Price of a video of `vid-acme`, micro-USD. */
export const ENDING_PRICE = 320_000n;
/** The vendor's key. */
export const ENDING_KEY = 'a-key-of-the-vendor';

const FILE = {
  ...{ id: 'acme', protocol: 'async-json', key_env: 'ACME_ENDS_KEY', auth: { in: 'bearer' } },
  submit: { path: '/jobs', body: { prompt: '{{prompt}}' }, id: 'id' },
  read: {
    ...{ path: '/jobs/{id}', state: 'state' },
    states: { processing: ['working'], succeeded: ['completed'], failed: ['failed'] },
  },
  result: { url: ['video'] },
  cancel: { method: 'PUT', path: '/jobs/{id}/stop' },
  delete: { method: 'DELETE', path: '/jobs/{id}' },
};

/** A gateway with the model `vid-acme` of a vendor whose file says how jobs are stopped and deleted. The caller deletes the variable `ACME_ENDS_KEY`. */
export async function startEndingGateway(vendorUrl: string): Promise<TestGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'shim-vendors-'));
  const file = { ...FILE, base_url: `${vendorUrl}/v1` };
  writeFileSync(join(folder, 'acme.json'), JSON.stringify(file));
  const model = {
    ...{ id: 'vid-acme', operation: 'video', limits: { max_image_urls: 0 } },
    routes: [{ provider: 'acme', upstream_model: 'm' }],
    price: { unit: 'video', by_seconds: [{ seconds: '5', micro_usd: Number(ENDING_PRICE) }] },
  };
  process.env.ACME_ENDS_KEY = ENDING_KEY;
  return startTestGateway({
    ...{ SANDBOX: 'off', VENDORS_DIR: folder, EGRESS_ALLOW: '127.0.0.1' },
    ...{ CATALOG_FILE: overlay({ models: [model] }), TASK_TICK_MS: '20' },
    ...{ TASK_POLL_INTERVAL_MS: '20', UPSTREAM_TIMEOUT_MS: '5000' },
  });
}
