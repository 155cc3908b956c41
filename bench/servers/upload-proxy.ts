import axios from 'axios';
import express from 'express';
import multer from 'multer';
import { createReadStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Agent } from 'node:http';
import { tmpdir } from 'node:os';

/** A bare proxy of the usual parts: multer to disk, then axios with keep-alive. It measures and charges nothing. */
const upstream = `http://127.0.0.1:${process.argv[3]}/v1/speech-to-text`;
const httpAgent = new Agent({ keepAlive: true, maxSockets: 256 });
const app = express();
app.post(
  '/v1/audio/transcriptions',
  multer({ dest: tmpdir() }).single('file'),
  async (request, response) => {
    const path = request.file?.path ?? '';
    const { model } = request.body as { model: string };
    const answer = await axios.postForm<object>(
      upstream,
      { model_id: model, file: createReadStream(path) },
      { httpAgent, maxBodyLength: Infinity, headers: { 'xi-api-key': 'bench' } },
    );
    await rm(path);
    response.json(answer.data);
  },
);
app.listen(Number(process.argv[2]), '127.0.0.1', () => process.send?.('ready'));
