#!/usr/bin/env python3
"""bench: which settings it measures, in what shape it says so, what it refuses. Never how fast anything is."""
import json
import unittest

from program import ProgramTest


class BenchTest(ProgramTest):
    def bench(self, *arguments):
        return self.run_program("bench", "--step-only", "--seconds", "0.01", *arguments)

    def json_of(self, *arguments):
        done = self.bench("--json", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_one_setting_is_a_step(self):
        found = self.json_of("--devices", "cpu:0+cpu:1", "--threads", 1)
        self.assertNotIn("settings", found)
        self.assertEqual((found["step"]["devices"], found["step"]["threads"]), (2, 1))
        self.assertNotIn("ratio", found["step"])

    def test_commas_separate_settings_and_plus_joins_devices(self):
        found = self.json_of("--devices", "cpu:0,cpu:0+cpu:1", "--threads", "1,2")
        self.assertNotIn("step", found)
        rows = found["settings"]
        self.assertEqual([(row["devices"], row["threads"]) for row in rows],
                         [(devices, threads) for devices in (1, 2) for threads in (1, 2)])
        self.assertEqual((rows[0]["ratio"], rows[0]["ratio_quartiles"]), (1, [1, 1]))
        for row in rows:
            self.assertGreater(min(row["seconds_per_epoch"], row["ratio"]), 0)

    def test_the_table_has_a_line_a_setting(self):
        done = self.bench("--devices", "cpu:0,2xcpu", "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"\ndevices +threads .* ratio +quartiles\n"
                                      r"cpu:0 +1 .* 1\.00 +1\.00-1\.00\n2xcpu +1 .*\n\Z")

    def test_shares_are_for_settings_with_as_many_devices(self):
        self.assertEqual(len(self.json_of("--devices", "cpu:0,2xcpu", "--shares", "3,1")["settings"]), 2)

    def test_a_step_of_another_model(self):
        found = self.json_of("--model", "resnet8", "--batch-norm", "ghost:32", "--threads", 2)
        self.assertEqual(found["model"], "resnet8")
        self.assertGreater(found["step"]["gflops"], 0)
        self.assertNotIn("parts", found)
        for arguments, word in ((("--model", "lenett"), "lenet"), (("--batch-norm", "sync"), "no batch norm"),
                                (("--model", "resnet8", "--batch-norm", "ghost:10"), "10")):
            self.assert_refused_before_start(self.bench(*arguments), 2, word)

    def test_a_step_of_other_pictures_and_minibatches(self):
        found = self.json_of("--model", "resnet8", "--size", "3x9x11", "--batch", 16, "--threads", 1)
        self.assertEqual((found["pictures"], found["examples"]), ([3, 9, 11], 16))
        done = self.bench("--model", "mlp", "--size", "3x8x8", "--batch", 32, "--threads", 1)
        self.assertTrue(done.stdout.startswith("A training step of mlp at 3x8x8, minibatches of 32, "), done.stdout)
        self.assert_refused_before_start(self.bench("--model", "vgg11", "--size", "3x31x32"), 2, "layer pool5")
        self.assert_refused_before_start(self.bench("--batch", 0), 2, "--batch", "from 1 to 60,000")

    def test_the_parts_of_a_step_make_up_all_of_it(self):
        done = self.run_program("bench", "--seconds", "0.01", "--json", "--threads", 1)
        self.assertEqual(done.returncode, 0, done.stderr)
        parts = json.loads(done.stdout)["parts"]
        self.assertAlmostEqual(sum(parts.values()), 1)
        self.assertGreater(min(parts.values()), 0)

    def test_bad_lists_are_refused(self):
        for arguments, word in ((("--devices", ""), "nothing between"), (("--devices", "cpu:0,"), "nothing between"),
                                (("--devices", "cpu:0,,2xcpu"), "nothing between"),
                                (("--devices", "cpu:0,fpga:0"), "fpga"), (("--devices", "cpu:0,cpu:1+cpu:1"), "twice"),
                                (("--threads", "1,x"), "'x'"), (("--threads", "1,"), "''"),
                                (("--devices", "1xcpu,2xcpu", "--shares", "1,2,3"), "found 3")):
            self.assert_refused_before_start(self.bench(*arguments), 2, arguments[-2], word)


if __name__ == "__main__":
    unittest.main()
