import { Inject, Injectable, type PipeTransform } from '@nestjs/common';
import { Catalog, unknownModel } from '../../catalog/catalog.js';
import { validatorOf } from '../../common/validation/compiled-validator.js';
import { readModelId } from '../../common/validation/parsed-body.js';
import { BODY_OF_SHAPE } from './body-of-shape.js';
import type { SongTask } from './shared-groups.body.js';
import { checkStemType } from './stem-types.js';

const CODE = 'invalid_music_request';

/**
 * Finds the row of the model, its shape and the strict request class; returns the checked body of a song task with
 * defaults. Throws GatewayError `invalid_music_request` that names the field (decisions G-67, G-68), and 404 if the
 * model guard has not run before.
 */
@Injectable()
export class SongBodyPipe implements PipeTransform<unknown, SongTask> {
  constructor(@Inject(Catalog) private readonly catalog: Catalog) {}

  transform(body: unknown): SongTask {
    const row = this.catalog.find(readModelId(body, CODE));
    if (row?.operation !== 'song') throw unknownModel('model_not_available');
    const { shape, stemTypes } = row.limits;
    const song = validatorOf<SongTask>(BODY_OF_SHAPE[shape]).parse(body, CODE);
    checkStemType(song, stemTypes);
    return song;
  }
}
