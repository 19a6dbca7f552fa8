/** Tests that the permission table covers every operation and agrees with the problems in the contracts. */
import { describe, expect, test } from '@jest/globals';
import { getProblems } from '#libs/contract';
import { contracts } from '../../services/contracts.ts';
import { RegistrationClosed } from '../../services/identity/contract.ts';
import { operatorSamples, samples } from './samples.ts';
import { operatorOperations, parseRowName, type Rule, table } from './table.ts';

const operations = contracts.flatMap((one) => one.operations);
const rows: [string, Rule][] = Object.entries(table);

describe('the permission table', () => {
  test('has rows for exactly the operations of the contracts', () => {
    const named = new Set(rows.map(([name]) => parseRowName(name).operation));
    expect([...named].sort()).toEqual(operations.map(({ id }) => id).sort());
    const adminOperations = contracts.flatMap((one) => one.adminOperations ?? []);
    expect([...operatorOperations].sort()).toEqual(adminOperations.map(({ id }) => id).sort());
  });

  test('has a sample request for exactly its rows', () => {
    expect(Object.keys(samples).sort()).toEqual(Object.keys(table).sort());
    expect(Object.keys(operatorSamples).sort()).toEqual([...operatorOperations].sort());
  });

  test.each(rows)('%s: hides resources from outsiders and revoked credentials', (_, rule) => {
    const { outcomes } = rule;
    expect(['yes', 'own', 400, 404]).toContain(outcomes['other organization']);
    expect(['yes', 401]).toContain(outcomes.anonymous);
    for (const actor of ['expired key', 'revoked key', 'removed member'] as const)
      expect(outcomes[actor]).toBe(outcomes.anonymous);
  });

  test.each(operations)('$id: the contract lists exactly the statuses of denied callers', (operation) => {
    const own = rows
      .filter(([name]) => parseRowName(name).operation === operation.id)
      .map(([, rule]) => rule);
    const outcomes = own.flatMap((rule) => Object.values(rule.outcomes));
    const refusals = new Set(outcomes.filter((outcome) => typeof outcome === 'number'));
    if (own.some(({ plan }) => plan)) refusals.add(403);
    // whether registration is open depends on a setting, not on the caller
    const problems = getProblems(operation).filter((problem) => problem !== RegistrationClosed);
    const documented = new Set(problems.map(({ status }) => status));
    expect([...refusals].filter((status) => !documented.has(status))).toEqual([]);
    expect(documented.has(403)).toBe(refusals.has(403));
  });
});
