import type { AdmittedCall } from '../../src/admission/admitted-call.js';
import { BUILT_IN_MODELS } from '../../src/catalog/models/built-in.models.js';
import { uuidV7 } from '../../src/common/ids/uuid-v7.js';

/** A call of a speech model for this account, after its admission. */
export function speechCallOf(accountId: string): AdmittedCall {
  const row = BUILT_IN_MODELS.find(({ id }) => id === 'aud-v4');
  if (!row) throw new Error('the model is gone');
  return {
    executionId: uuidV7(Date.now()),
    caller: {
      apiKeyId: accountId,
      accountId,
      allowedModels: null,
      requestsPerMinute: null,
      expiresAtMs: null,
      scopes: ['read', 'call'],
    },
    endpoint: '/v1/audio/speech',
    row,
    modelName: row.id,
    routes: row.routes,
  };
}
