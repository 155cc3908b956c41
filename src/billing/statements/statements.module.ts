import { Module } from '@nestjs/common';
import { CsvStreams } from '../../platform/http-server/responses/csv-streams.js';
import { StatementAnswers } from './statement-answers.js';
import { Statements } from './statements.js';

/** Statements of months, and the CSV of whole lists. Takes the DataSource from a global module. */
@Module({
  providers: [Statements, StatementAnswers, CsvStreams],
  exports: [StatementAnswers, CsvStreams],
})
export class StatementsModule {}
