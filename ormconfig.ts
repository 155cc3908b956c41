import { createDataSource } from './src/platform/database/data-source.js';

// eslint-disable-next-line no-restricted-syntax -- the TypeORM command line runs without the gateway's configuration
const url = process.env.DATABASE_URL;
if (!url) throw new Error('Set DATABASE_URL to the database the TypeORM command is for.');

/** The data source of the TypeORM command line (`npm run typeorm -- migration:show`). */
export default createDataSource({ url, applicationName: 'shim-typeorm-cli' });
