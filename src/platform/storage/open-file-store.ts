import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { GatewayConfig } from '../config/gateway-config.js';
import { ConfigError } from '../config/load-config.js';
import { readVariable } from '../config/environment-variables.js';
import type { FileStore } from './file-store.port.js';
import { LocalFileStore } from './local-file-store.js';

type Settings = Pick<GatewayConfig, 'storageUrl' | 's3Endpoint' | 'dataDir'>;

/** Servers other than Amazon's ignore the region, but a request cannot be signed without one. */
const ANY_REGION = 'us-east-1';

/** The store of `STORAGE_URL`. Throws ConfigError if a local directory cannot be created. */
export async function openFileStore(settings: Settings): Promise<FileStore> {
  const store = await storeOf(settings);
  try {
    await store.prepare();
  } catch (error) {
    throw new ConfigError([`STORAGE_URL: files cannot be kept there (${String(error)})`]);
  }
  return store;
}

async function storeOf({ storageUrl, s3Endpoint, dataDir }: Settings): Promise<FileStore> {
  if (storageUrl === undefined) return new LocalFileStore(resolve(dataDir, 'files'));
  if (storageUrl.startsWith('file:')) return new LocalFileStore(fileURLToPath(storageUrl));
  // Loaded only where it is used, because it is large.
  const { S3FileStore } = await import('./s3-file-store.js');
  const { hostname, pathname } = new URL(storageUrl);
  const region = readVariable('AWS_REGION') ?? readVariable('AWS_DEFAULT_REGION');
  return new S3FileStore({
    bucket: hostname,
    prefix: pathname.replace(/^\/+/, ''),
    endpoint: s3Endpoint,
    region: region ?? (s3Endpoint === undefined ? undefined : ANY_REGION),
  });
}
