#!/usr/bin/env python3
"""The models: what they are, and training them on pictures of other channels and sizes."""
import json
import unittest

from pictures import write_pictures_with_channels
from program import ProgramTest

PARAMETERS = {"lenet": 129068, "mlp": 203530, "resnet8": 77658, "resnet18": 11175818, "alexnet": 20209034,
              "vgg11": 28144010}


class ModelsTest(ProgramTest):
    def models(self, *arguments):
        done = self.run_program("models", "--json", *arguments)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_all_models_have_a_line(self):
        self.assertEqual({m["model"]: m["parameters"] for m in self.models()}, PARAMETERS)
        lines = self.run_program("models").stdout.splitlines()
        self.assertEqual([line.split()[0] for line in lines[1:7]], list(PARAMETERS))
        self.assertRegex(lines[4], r"\Aresnet18  1x28x28, 10 classes +1x1 +11,175,818 ")

    def test_one_model_is_a_table_of_layers(self):
        [model] = self.models("resnet18")
        self.assertEqual(model["running_statistics"], 7808)
        self.assertEqual(sum(layer["parameters"] for layer in model["layers"]), 11175818)
        # two for a multiply-add of 3x3 at 28x28 from 1 to 64 channels, but for the padding
        self.assertAlmostEqual(model["layers"][0]["forward_flops"], 2 * 64 * (28 * 3 - 2) ** 2)
        self.assertAlmostEqual(sum(layer["forward_flops"] for layer in model["layers"]), model["forward_flops"])
        lines = self.run_program("models", "resnet18").stdout.splitlines()
        self.assertEqual(lines[1].split(), ["input", "1x28x28"])
        self.assertRegex(lines[2], r"\A0 +convolution 64 of 3x3, stride 1x1, padding 1x1, .* 64x28x28 +640 ")
        self.assertRegex(lines[10], r"\Aresnet_block1.0.add +add of resnet_block1.0.bn2, 2 +64x28x28\Z")

    def test_the_memory_is_the_plans(self):
        [model] = self.models("resnet8", "--size", "3x32x32")
        done = self.run_program("plan", "resnet8", "--size", "3x32x32", "--devices", "cpu:0")
        self.assertIn(f"  {'peak':<18}{model['memory']:>16,}\n", done.stdout)
        self.assertEqual(model["pictures"], [3, 32, 32])

    def test_what_is_no_size_is_refused(self):
        for arguments, words in ((("models", "vgg11", "--size", "1x28x28"), ("32x32 or more", "layer pool5")),
                                 (("models", "vgg11", "--size", "3x32"), ("--size", "3x32x32", "'3x32'")),
                                 (("bench", "--size", "0x3x3"), ("--size", "from 1 to 16,384", "'0'")),
                                 (("models", "--size", "3x32x32"), ("--size", "name of a model")),
                                 (("models", "vgg"), ("'vgg'", "did you mean 'vgg11'?"))):
            self.assert_refused_before_start(self.run_program(*arguments), 2, *words)


class PicturesTest(ProgramTest):
    """Of three channels, in IDX files of four sizes."""

    def setUp(self):
        super().setUp()
        self.data = self.folder / "coloured"
        write_pictures_with_channels(self.data, train=64, test=32, shape=(3, 30, 32))

    def test_they_are_trained_resumed_evaluated_and_compared(self):
        job = ("resnet8", "--batch", 32, "--lr", "0.05")
        whole = self.train(*job, "--epochs", 2, "--out", "whole")
        self.assertIn('data_sizes = "64 + 32 pictures of 3x30x32, 10 classes"\n',
                      (self.folder / "whole/config.toml").read_text())
        self.train(*job, "--epochs", 1, "--out", "part", "--devices", 2)
        resumed = self.train("--resume", "part", "--epochs", 2)
        self.assertEqual(resumed["weights"], whole["weights"])
        found = json.loads(self.run_program("eval", "whole", "--json").stdout)
        self.assertEqual((found["weights"], found["accuracy"]), (whole["weights"], whole["accuracy"]))
        compared = self.run_program("diff", "whole", "part")
        self.assertEqual((compared.returncode, compared.stdout), (0, "equal: 4 steps, 41 tensors, every hash\n"))

    def test_weights_of_another_network_are_refused(self):
        self.train("lenet", "--epochs", 1, "--out", "three")
        self.assert_refused(self.run_program("train", "lenet", "--data", self.folder / "data", "--load", "three"), 3,
                            "conv1.weight", "[20, 1, 3, 3]", "[20, 3, 3, 3]")
        self.assert_refused(self.run_program("train", "resnet18", "--data", self.data, "--load", "three"), 3,
                            "resnet18", "conv1.weight", "[20, 3, 3, 3]")


class VerifyTest(ProgramTest):
    """The large networks on few small pictures: equal bits on any devices and threads."""

    def assert_equal_bits(self, model, shape, *arguments, settings=6):
        data = self.folder / "small"
        if not data.exists():
            write_pictures_with_channels(data, train=32, test=4, shape=shape)
        done = self.run_program("verify", model, "--data", data, "--batch", 32, "--lr", "0.01", "--steps", 2,
                                "--exchange", "sharded", *arguments)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"all {settings} runs have equal weights", done.stdout)

    def test_resnet18_with_statistics_of_the_minibatch_and_of_groups(self):
        for form in ("sync", "ghost:16"):
            with self.subTest(form=form):
                self.assert_equal_bits("resnet18", (3, 8, 8), "--devices", "1,2,3", "--threads", "1,2",
                                       "--batch-norm", form)

    def test_alexnet(self):
        self.assert_equal_bits("alexnet", (3, 63, 64), "--devices", "1,2", "--threads", 1, settings=2)

    def test_vgg11(self):
        self.assert_equal_bits("vgg11", (3, 32, 33), "--devices", "1,2", "--threads", 1, settings=2)


if __name__ == "__main__":
    unittest.main()
