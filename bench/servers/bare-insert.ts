import express from 'express';
import { randomUUID } from 'node:crypto';
import { Pool } from 'pg';

/** The comparison for submissions: Express reads a JSON body and inserts it as one row, on a pool of the same size. */
const [port, connectionString] = process.argv.slice(2);
const pool = new Pool({ connectionString, max: 20 });
await pool.query('CREATE TABLE bare (id uuid PRIMARY KEY, body json)');

const app = express();
app.use(express.json());
app.post('/', (request, response) => {
  void pool
    .query('INSERT INTO bare VALUES ($1, $2)', [randomUUID(), request.body])
    .then(() => response.status(202).json({ status: 'queued' }));
});
app.listen(Number(port), '127.0.0.1', () => process.send?.('ready'));
