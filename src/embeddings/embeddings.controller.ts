import { Controller, Res } from '@nestjs/common';
import { ApiOkResponse, ApiOperation } from '@nestjs/swagger';
import type { Response } from 'express';
import { Call, type AdmittedCall } from '../admission/admitted-call.js';
import { GeneralEndpoint } from '../admission/call-endpoint.decorators.js';
import { BodyExamples } from '../common/validation/body-examples.decorator.js';
import { StrictBody } from '../common/validation/strict-body.pipe.js';
import { BodyLimit } from '../platform/http-server/request-body/json-body.guard.js';
import { KEY_HEADERS } from '../platform/http-server/responses/answer-copy.js';
import {
  CHARGE_HEADERS,
  setChargeHeader,
} from '../platform/http-server/responses/gateway-headers.js';
import { sendJsonInPieces } from '../platform/http-server/responses/json-in-pieces.js';
import { EmbeddingsBody } from './dto/embeddings.body.js';
import { MAX_INPUTS, MAX_TOKENS } from './embedding-inputs.js';
import { embeddingsJson } from './embeddings-json.js';
import { EmbeddingsService } from './embeddings.service.js';
import { EmbeddingsView } from './embeddings.view.js';

/** As many token ids, each with a comma, or texts of so many tokens with their characters escaped. */
const BODY_BYTES = 4 * 1024 * 1024;
/** A value for each token, and one for each input. */
const BODY_VALUES = MAX_TOKENS + 2 * MAX_INPUTS;

/** Embeddings. */
@Controller()
export class EmbeddingsController {
  constructor(private readonly embeddings: EmbeddingsService) {}

  @GeneralEndpoint('embeddings')
  @BodyLimit(BODY_BYTES, BODY_VALUES)
  @BodyExamples(EmbeddingsBody, {
    texts: {
      model: 'gen-embed-demo',
      input: ['The lighthouse stands at night', 'A tower by the sea'],
    },
    short: { model: 'gen-embed-demo', input: 'A tower by the sea', dimensions: 256 },
  })
  @ApiOperation({
    summary: 'Embeddings',
    description:
      'A vector for each text, for search and comparison. All texts of a call are held and charged together, by their tokens.',
  })
  @ApiOkResponse({ type: EmbeddingsView, headers: { ...CHARGE_HEADERS, ...KEY_HEADERS } })
  async createEmbeddings(
    @Call() call: AdmittedCall<'embeddings'>,
    @StrictBody() body: EmbeddingsBody,
    @Res() response: Response,
  ): Promise<void> {
    const { value, chargedMicroUsd } = await this.embeddings.embed(call, body);
    setChargeHeader(response, chargedMicroUsd);
    const bytes = value.vectors.reduce((sum, { byteLength }) => sum + byteLength, 0);
    await sendJsonInPieces(response, embeddingsJson(value), bytes);
  }
}
