"""Evidence of another job or run, read as from an enemy."""

from __future__ import annotations

from mutation import INTEGRATION, UNIT, of

MUTATIONS = [
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/core/handover/received_evidence.py",
        ("S2 evidence without its schema", "    _check_schema(document)\n", ""),
        ("S2 one result twice", "if len(set(keys)) != len(keys):", "if False:"),
        ("S2 numbers that contradict their status", 'check_metrics(metrics, "metrics")', "pass"),
        ("S7 sentences inside a benchmark", "if not holds_only_identifiers", "if False and holds_only_identifiers"),
        ("S2 one benchmark twice", 'if evidence["id"] in found:', "if False:"),
    ),
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/core/handover/publish_evidence.py",
        ("S7 notes of the run cross", '"notes": []}), "id"', '}), "id"'),
        ("B1 more calls than are read", "for call in changed[:kept]:", "for call in changed:"),
    ),
    *of(
        f"{UNIT}/core/test_publish_evidence.py",
        "ci_action/render/rendering.py",
        ("S7 messages of a fork are shown", "without_messages(verdict) if facts.is_foreign else verdict", "verdict"),
    ),
    *of(
        f"{UNIT}/edges/test_archive.py",
        "ci_action/edges/github/archive.py",
        ("S9 a second file", "if len(entries) != 1:", "if not entries:"),
        ("S9 another name", "if entry.filename != name or entry.orig_filename != name:", "if False:"),
        ("S9 a symbolic link", "or kind not in {0, REGULAR}", ""),
        ("S9 an unusual packing", "or entry.compress_type not in METHODS", ""),
        ("S9 a bomb", "if size > MOST_BYTES or size > MOST_RATIO * packed:", "if False:"),
        ("S9 a ratio", " or size > MOST_RATIO * packed", ""),
        ("S9 an archive without end", "if len(archive) > ARCHIVE_BYTES:", "if False:"),
    ),
    *of(
        f"{INTEGRATION}/test_split_api.py",
        "ci_action/edges/github/run_store.py",
        ("S24 a password of .netrc goes to the blob host", "auth=_no_credentials, ", ""),
        ("S24 a place without TLS", 'if not parts.hostname or not (parts.scheme == "https" or is_local):', "if False:"),
        ("S24 a redirect of a redirect", "allow_redirects=False, ", ""),
        ("S9 an archive that was swapped", "if artifact.sha256 and", "if False and"),
        ("S9 a download without end", "if size > ARCHIVE_BYTES:", "if False:"),
        ("S14 another workflow's run dates the head", "full_name, _path(item))", "full_name, run.path)"),
    ),
    *of(
        f"{UNIT}/core/test_shards.py",
        "ci_action/core/handover/shards.py",
        ("B11 shards of different commits", "if len(commits) != 1:", "if False:"),
        ("B11 a target in no shard", "measured[shard.number - 1 :: shard.of]", "measured[shard.number :: shard.of]"),
    ),
    *of(
        f"{UNIT}/test_receiving.py",
        "ci_action/receiving.py",
        ("S4 expired evidence", " and not item.is_expired", ""),
        (
            "B11 shards of two splits are mixed",
            "return list(latest.values())",
            "return [one for group in groups.values() for one in group.values()]",
        ),
    ),
    *of(
        f"{INTEGRATION}/test_publish_run.py",
        "ci_action/commands/sources.py",
        ("S14 a label from before the head", "at=first_run_at", 'at=""'),
        ("B10 the comment is of the wrong run", "run_id=run.id", "run_id=None"),
    ),
    *of(
        f"{INTEGRATION}/test_split_cli.py",
        "ci_action/commands/split.py",
        ("B51 a broken run leaves the gate open", "            _say_broken(session, found, f", "            str(f"),
    ),
    *of(
        f"{UNIT}/core/test_strict_json.py",
        "ci_action/core/strict_json.py",
        ("S10 NaN", "        parse_constant=_refuse_constant,\n", ""),
        ("S10 one key twice", "if len(found) != len(pairs):", "if False:"),
        ("S10 depth", "if depth > limits.depth:", "if False:"),
        ("S10 digits", "if len(digits) > limits.digits:", "if False:"),
        ("S10 a long text", "if len(text) > limits.string_length:", "if False:"),
        ("S10 values without end", "if seen > limits.items:", "if False:"),
        ("S10 bytes without end", "if len(data) > limits.size_bytes:", "if False:"),
        (
            "S10 brackets without end",
            "    except RecursionError:\n        raise EvidenceError(_too_deep(limits)) from None\n",
            "",
        ),
    ),
    *of(
        f"{UNIT}/test_receiving.py",
        "ci_action/receiving.py",
        ("S2 a report's name is the fork's own word", "report_group, artifact_name)", "len)"),
    ),
    *of(
        f"{INTEGRATION}/test_sharded.py",
        "ci_action/edges/evidence_folder.py",
        ("B11 a shard of other commits", ".policy_sha) != commits:", ".policy_sha) is None:"),
        ("B11 half a shard", "for folder in folders if _is_whole(folder)}", "for folder in folders}"),
    ),
]
